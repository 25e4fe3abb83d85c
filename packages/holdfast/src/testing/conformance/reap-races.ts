/** The holder of a lease that ran out races those who reap it: exactly one of them has the job. */
import assert from "node:assert/strict";
import type { LeasedJob, LeaseRef } from "../../core/store.ts";
import { callers, threeStores } from "./callers.ts";
import { assertCounts, findAll, jobOf } from "./looking.ts";
import { idsOf, insertOne, insertSome, newJob, sortedIdsOf } from "./new-job.ts";
import type { Given } from "./scenario.ts";
import { chapter } from "./scenario.ts";
import { leaseRef, renew, settlement, succeed } from "./settling.ts";
import { takeExactly, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

/** So many leases that have run out, for those who race for them. */
async function expired({ store, place }: Given, count: number): Promise<LeasedJob[]> {
  await insertSome(store, count);
  const leased = await takeExactly(store, count, { leaseMs: SHORT_MS });
  await place.advance(PASSED_MS);
  return leased;
}

/** What each of two racing calls won, by job: exactly one of them must have it. */
function assertOneWinner(
  jobs: readonly LeaseRef[],
  one: ReadonlySet<string>,
  other: ReadonlySet<string>,
): void {
  for (const { id } of jobs)
    assert.ok(one.has(id) !== other.has(id), "exactly one of the two wins");
}

function won<Result extends string>(
  jobs: readonly LeaseRef[],
  results: readonly Result[],
  word: Result,
): Set<string> {
  return new Set(jobs.filter((_, index) => results[index] === word).map((job) => job.id));
}

export const reapRaces = chapter("races for an expired lease", {
  "of a renewal and a reaping exactly one wins": async (given) => {
    const [first, second] = await threeStores(given);
    const leased = await expired(given, 40);
    const [renewed, reaped] = await Promise.all([
      first.renew(leased.map(leaseRef), LONG_MS),
      second.reap({ limit: 200 }),
    ]);
    const rest = await second.reap({ limit: 200 });
    assertOneWinner(leased, won(leased, renewed, "kept"), new Set(idsOf([...reaped, ...rest])));
  },

  "of a settle and a reaping exactly one wins": async (given) => {
    const [first, second] = await threeStores(given);
    const leased = await expired(given, 40);
    const [settled, reaped] = await Promise.all([
      first.settle(leased.map((job) => settlement(job, succeed()))),
      second.reap({ limit: 200 }),
    ]);
    const rest = await second.reap({ limit: 200 });
    const done = won(leased, settled, "settled");
    assertOneWinner(leased, done, new Set(idsOf([...reaped, ...rest])));
    await assertCounts(given.store, { succeeded: done.size, ready: leased.length - done.size });
  },

  "single renewals and settles racing a reaping end each job once": async (given) => {
    const stores = await threeStores(given);
    const leased = await expired(given, 24);
    const reaping = callers(stores, 3, (store) => store.reap({ limit: 10 }));
    const ends = await callers(stores, leased.length, async (store, caller) => {
      const job = leased[caller];
      assert.ok(job);
      const kept = await renew(store, job);
      const [result] = await store.settle([settlement(job, succeed())]);
      return { id: job.id, kept, result };
    });
    const reaped = new Set((await reaping).flat().map((job) => job.id));
    for (const { id, kept, result } of ends) {
      assert.deepEqual([kept, result], reaped.has(id) ? ["lost", "lost"] : ["kept", "settled"]);
    }
  },

  "parallel reapings count each crash once": async (given) => {
    const stores = await threeStores(given);
    const leased = await expired(given, 40);
    const reaped = (await callers(stores, 6, (store) => store.reap({ limit: 20 }))).flat();
    reaped.push(...(await given.store.reap({ limit: 200 })));
    assert.deepEqual(sortedIdsOf(reaped), sortedIdsOf(leased));
    for (const { id } of leased) assert.equal((await jobOf(given.store, { id })).crashes, 1);
  },

  "a settle sent by several ways at once is done once": async (given) => {
    const stores = await threeStores(given);
    const job = await insertOne(given.store);
    const leased = await takeOne(given.store);
    const once = settlement(leased, succeed("1"), {
      spawn: [newJob({ type: "child" })],
      updates: { logs: ["once"] },
    });
    const results = await callers(stores, 6, (store) => store.settle([once]));
    assert.deepEqual(new Set(results.flat()), new Set(["settled"]));
    assert.equal((await jobOf(given.store, job)).logs.length, 1);
    assert.equal((await findAll(given.store, { type: "child" })).length, 1);
  },
});
