/** What each end of an attempt costs: a start that was not taken back is spent. */
import assert from "node:assert/strict";
import type { Outcome } from "../../core/outcome.ts";
import type { Store } from "../../core/store.ts";
import { jobOf } from "./looking.ts";
import { insertOne } from "./new-job.ts";
import type { StorePlace } from "./scenario.ts";
import { chapter } from "./scenario.ts";
import {
  cancelled,
  defer,
  die,
  dieUnstarted,
  release,
  retry,
  settle,
  snooze,
  start,
  succeed,
} from "./settling.ts";
import { takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

/** Attempts after a second attempt that ended so. */
async function attemptsAfter(store: Store, outcome: Outcome): Promise<number> {
  const job = await insertOne(store);
  await settle(store, await takeOne(store), retry());
  await settle(store, await takeOne(store), outcome);
  return (await jobOf(store, job)).attempts;
}

/** A job whose only attempt was spent by a crash. */
async function crashedOut(store: Store, place: StorePlace): Promise<{ readonly id: string }> {
  const job = await insertOne(store, { maxAttempts: 1 });
  await takeOne(store, { leaseMs: SHORT_MS });
  await place.advance(PASSED_MS);
  await store.reap({ limit: 1 });
  return job;
}

export const attempts = chapter("attempts", {
  "a success spends its attempt": async ({ store }) => {
    assert.equal(await attemptsAfter(store, succeed()), 2);
  },

  "a retry spends its attempt": async ({ store }) => {
    assert.equal(await attemptsAfter(store, retry(LONG_MS)), 2);
  },

  "a death spends its attempt": async ({ store }) => {
    assert.equal(await attemptsAfter(store, die()), 2);
  },

  "a death before the handler was started gives its attempt back and leaves no record": async ({
    store,
  }) => {
    const job = await insertOne(store);
    await settle(store, await takeOne(store), dieUnstarted("poison"));
    const { status, reason, attempts: spent, history } = await jobOf(store, job);
    assert.deepEqual([status, reason, spent, history], ["dead", "poison", 0, []]);
  },

  "a cancellation by the handler spends its attempt": async ({ store }) => {
    assert.equal(await attemptsAfter(store, cancelled()), 2);
  },

  "a snooze gives its attempt back": async ({ store }) => {
    assert.equal(await attemptsAfter(store, snooze(LONG_MS)), 1);
  },

  "a release gives its attempt back": async ({ store }) => {
    assert.equal(await attemptsAfter(store, release(LONG_MS)), 1);
  },

  "a retry that the other side asked for gives its attempt back and is counted": async ({
    store,
  }) => {
    const job = await insertOne(store);
    await settle(store, await takeOne(store), defer());
    await settle(store, await takeOne(store), defer());
    const { attempts: spent, deferrals } = await jobOf(store, job);
    assert.deepEqual([spent, deferrals], [0, 2]);
    const leased = await takeOne(store);
    assert.deepEqual([leased.attempt, leased.deferrals], [1, 2]);
  },

  "a given back attempt is numbered again, under a new fence": async ({ store }) => {
    await insertOne(store);
    const first = await takeOne(store);
    await settle(store, first, snooze());
    const second = await takeOne(store);
    assert.deepEqual([first.attempt, second.attempt], [1, 1]);
    assert.ok(second.fence > first.fence);
  },

  "attempts are numbered from 1 and never go beyond maxAttempts": async ({ store }) => {
    await insertOne(store, { maxAttempts: 3 });
    const seen: [number, boolean][] = [];
    for (let lease = 0; lease < 5; lease++) {
      const leased = await takeOne(store);
      seen.push([leased.attempt, leased.exhausted]);
      await settle(store, leased, retry());
    }
    assert.deepEqual(seen, [
      [1, false],
      [2, false],
      [3, false],
      [3, true],
      [3, true],
    ]);
  },

  "a job whose attempts were used up by a crash is leased as exhausted": async ({
    store,
    place,
  }) => {
    const job = await crashedOut(store, place);
    const leased = await takeOne(store);
    assert.deepEqual([leased.attempt, leased.exhausted, leased.crashes], [1, true, 1]);
    assert.equal((await jobOf(store, job)).attempts, 1);
  },

  "releasing an exhausted job gives nothing back": async ({ store, place }) => {
    const job = await crashedOut(store, place);
    for (const outcome of [release(), snooze(), defer()]) {
      await settle(store, await takeOne(store), outcome);
      assert.equal((await jobOf(store, job)).attempts, 1);
    }
    assert.equal((await takeOne(store)).exhausted, true);
  },

  "a crash while exhausted spends no attempt that there is not": async ({ store, place }) => {
    const job = await crashedOut(store, place);
    await start(store, [await takeOne(store, { leaseMs: SHORT_MS })], SHORT_MS);
    await place.advance(PASSED_MS);
    await store.reap({ limit: 1 });
    const { attempts: spent, crashes } = await jobOf(store, job);
    assert.deepEqual([spent, crashes], [1, 2]);
  },

  "an exhausted job that ends dead gets nothing back": async ({ store, place }) => {
    const job = await crashedOut(store, place);
    await settle(store, await takeOne(store), dieUnstarted("crashed"));
    const { status, reason, attempts: spent } = await jobOf(store, job);
    assert.deepEqual([status, reason, spent], ["dead", "crashed", 1]);
  },
});
