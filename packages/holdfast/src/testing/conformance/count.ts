import assert from "node:assert/strict";
import { assertCounts, countsOf } from "./looking.ts";
import { insertOne, insertSome, QUEUE } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { cancelled, die, release, retry, settle, snooze, succeed } from "./settling.ts";
import { takeExactly, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

const NOBODY = { reason: null, by: null };

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

  "the groups of a queue are counted together": async ({ store }) => {
    await insertSome(store, 2, { group: "a" });
    await insertSome(store, 3, { group: "b" });
    assert.equal((await countsOf(store, QUEUE)).ready, 5);
  },
});
