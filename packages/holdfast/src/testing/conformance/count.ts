import assert from "node:assert/strict";
import type { LeasedJob, Store } from "../../core/store.ts";
import { assertCounts, countsOf, jobOf } from "./looking.ts";
import { insertOne, insertSome, QUEUE } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { cancelled, die, release, retry, settle, snooze, succeed } from "./settling.ts";
import { takeExactly, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS, TICK_MS } from "./times.ts";

const NOBODY = { reason: null, by: null };

/** The one ready job that was tried before; the others go back to their places. */
async function takeRetried(store: Store): Promise<LeasedJob> {
  const ready = await takeExactly(store, 3);
  const retried = ready.find(({ attempt }) => attempt > 1);
  assert.ok(retried);
  for (const job of ready) if (job !== retried) await settle(store, job, release(0));
  return retried;
}

export const count = chapter("count", {
  "an empty place has no queues": async ({ store }) => {
    assert.deepEqual(await store.count(), []);
  },

  "every queue is counted, by name": async ({ store }) => {
    await insertOne(store, { queue: "b" });
    await insertSome(store, 2, { queue: "a" });
    await insertOne(store, { queue: "C" });
    const counts = await store.count();
    assert.deepEqual(
      counts.map((one) => [one.queue, one.ready]),
      [
        ["C", 1],
        ["a", 2],
        ["b", 1],
      ],
    );
  },

  "a queue that has only settings is counted": async ({ store }) => {
    await store.limit([{ queue: "limited", group: null, maxActive: 3 }]);
    await assertCounts(store, {}, "limited");
  },

  "ready and delayed jobs are told apart, by the clock": async ({ store, place }) => {
    await insertSome(store, 2);
    await insertOne(store, { delayMs: LONG_MS });
    await insertOne(store, { delayMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await assertCounts(store, { ready: 3, delayed: 1 });
  },

  "the numbers follow every way an attempt can end": async ({ store }) => {
    await insertSome(store, 6);
    const leased = await takeExactly(store, 6);
    await assertCounts(store, { processing: 6 });
    const outcomes = [succeed(), die(), cancelled(), retry(LONG_MS), snooze(LONG_MS), release(0)];
    for (const [index, outcome] of outcomes.entries()) {
      await settle(store, leased[index] ?? assert.fail(), outcome);
    }
    await assertCounts(store, { succeeded: 1, dead: 1, cancelled: 1, delayed: 2, ready: 1 });
  },

  "the numbers follow a crash and its reaping": async ({ store, place }) => {
    await insertOne(store);
    await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await assertCounts(store, { processing: 1 });
    await store.reap({ limit: 1 });
    await assertCounts(store, { ready: 1 });
  },

  "the numbers follow an operator's hand": async ({ store }) => {
    const ids = [{ id: (await insertOne(store)).id }];
    await store.reschedule({ ids }, { delayMs: LONG_MS, runAt: null }, NOBODY);
    await assertCounts(store, { delayed: 1 });
    await store.cancel({ ids }, NOBODY);
    await assertCounts(store, { cancelled: 1 });
    await store.revive({ ids }, { delayMs: 0, runAt: null, attempts: 1 }, NOBODY);
    await assertCounts(store, { ready: 1 });
    await store.remove({ ids }, NOBODY);
    await assertCounts(store, {});
  },

  "a queue whose jobs are all gone is still counted": async ({ store }) => {
    await insertOne(store);
    await settle(store, await takeOne(store), succeed(), { discard: true });
    await assertCounts(store, {});
  },

  "waiting jobs with attempts behind them are counted as retrying": async ({ store, place }) => {
    await insertSome(store, 4);
    const [first, second, third] = await takeExactly(store, 3);
    assert.ok(first && second && third);
    assert.equal((await countsOf(store)).retrying, 0);
    await settle(store, first, retry(LONG_MS));
    await settle(store, second, retry(0));
    await settle(store, third, release(0));
    assert.equal((await countsOf(store)).retrying, 2);
    await settle(store, await takeRetried(store), succeed());
    assert.equal((await countsOf(store)).retrying, 1);
    await takeExactly(store, 2, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await store.reap({ limit: 10 });
    assert.equal((await countsOf(store)).retrying, 3);
  },

  "the count says since when the longest waiting job is ready": async ({ store, place }) => {
    assert.deepEqual(await store.count(), []);
    const late = await insertOne(store, { delayMs: LONG_MS });
    assert.equal((await countsOf(store)).oldestReadyAt, null);
    const first = await insertOne(store, { priority: 900, group: "a" });
    await place.advance(TICK_MS);
    await insertSome(store, 3, { priority: 1 });
    await insertOne(store, { group: "b" });
    const { runAt } = await jobOf(store, first);
    assert.equal((await countsOf(store)).oldestReadyAt, runAt);
    await store.cancel({ ids: [{ id: first.id }] }, NOBODY);
    const next = (await countsOf(store)).oldestReadyAt;
    assert.ok(next !== null && next > runAt);
    await takeExactly(store, 4);
    assert.equal((await countsOf(store)).oldestReadyAt, null);
    const past = { delayMs: 0, runAt: 5_000 };
    await store.reschedule({ ids: [{ id: late.id }] }, past, NOBODY);
    assert.equal((await countsOf(store)).oldestReadyAt, 5_000);
  },

  "the groups of a queue are counted together": async ({ store }) => {
    await insertSome(store, 2, { group: "a" });
    await insertSome(store, 3, { group: "b" });
    assert.equal((await countsOf(store, QUEUE)).ready, 5);
  },
});
