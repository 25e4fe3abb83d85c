import assert from "node:assert/strict";
import type { LeaseRef, Store } from "../../core/store.ts";
import { jobOf } from "./looking.ts";
import { idsOf, insertOne, insertSome, QUEUE, sortedIdsOf } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { leaseRef, renew, settle, settleLost, start, succeed } from "./settling.ts";
import { takeExactly, takeNothing, takeOne, takeOneByOne } from "./take.ts";
import { PASSED_MS, SHORT_MS } from "./times.ts";

const LOST = "worker-1";

/** Says what the worker whose reply got lost has; the rest goes back. */
function disownAll(
  store: Store,
  except: readonly LeaseRef[] = [],
  queues: readonly string[] = [QUEUE],
): Promise<number> {
  return store.disown({ worker: LOST, queues, except: except.map(leaseRef) });
}

export const disown = chapter("disown", {
  "what a worker does not know of goes back uncharged": async ({ store }) => {
    const job = await insertOne(store, { maxAttempts: 1 });
    const lost = await takeOne(store, { worker: LOST });
    assert.equal(await disownAll(store), 1);
    const stored = await jobOf(store, job);
    assert.deepEqual(
      [stored.status, stored.attempts, stored.crashes, stored.history.length],
      ["queued", 0, 0, 0],
    );
    assert.deepEqual([stored.leasedAt, stored.leaseUntil], [null, null]);
    assert.ok(stored.fence > lost.fence, "the fence moves on");
    const again = await takeOne(store, { worker: "worker-2" });
    assert.deepEqual([again.id, again.attempt, again.exhausted], [job.id, 1, false]);
  },

  "jobs that go back stand in their old places": async ({ store }) => {
    const jobs = await insertSome(store, 5);
    await takeExactly(store, 3, { worker: LOST });
    assert.equal(await disownAll(store), 3);
    assert.deepEqual(idsOf(await takeOneByOne(store, 5, { worker: "worker-2" })), idsOf(jobs));
  },

  "what a worker knows of stays its own": async ({ store }) => {
    await insertSome(store, 3);
    const [first, second, third] = await takeExactly(store, 3, { worker: LOST });
    assert.ok(first && second && third);
    assert.equal(await disownAll(store, [second]), 2);
    assert.equal(await renew(store, second), "kept");
    await settle(store, second, succeed());
    for (const stale of [first, third]) {
      assert.equal(await renew(store, stale), "lost");
      await settleLost(store, stale, succeed());
    }
  },

  "a fence that is not the current one keeps nothing": async ({ store }) => {
    await insertOne(store);
    const lost = await takeOne(store, { worker: LOST });
    assert.equal(await disownAll(store, [{ ...lost, fence: lost.fence - 1 }]), 1);
  },

  "the jobs of other workers are left alone": async ({ store }) => {
    await insertSome(store, 2);
    const other = await takeOne(store, { worker: "worker-10" });
    await takeOne(store, { worker: LOST });
    assert.equal(await disownAll(store), 1);
    assert.equal(await renew(store, other), "kept");
  },

  "jobs of all named queues go back": async ({ store }) => {
    const queues = [QUEUE, "sms", "push"];
    for (const queue of queues) {
      await insertOne(store, { queue });
      await takeOne(store, { queue, worker: LOST });
    }
    assert.equal(await disownAll(store, [], [...queues, "never-heard-of"]), 3);
    for (const queue of queues) await takeOne(store, { queue, worker: "worker-2" });
  },

  "disowning again changes nothing": async ({ store }) => {
    await insertOne(store);
    await takeOne(store, { worker: LOST });
    assert.equal(await disownAll(store), 1);
    const mine = await takeOne(store, { worker: "worker-2" });
    assert.equal(await disownAll(store), 0);
    assert.equal(await renew(store, mine), "kept");
  },

  "a worker that holds nothing disowns nothing": async ({ store }) => {
    await insertOne(store);
    assert.equal(await disownAll(store), 0);
    assert.equal(await store.disown({ worker: LOST, queues: [], except: [] }), 0);
    await takeOne(store);
  },

  "a lease that arrives after it was disowned is reaped uncharged": async ({ store, place }) => {
    const job = await insertOne(store, { maxAttempts: 1 });
    await disownAll(store);
    const late = await takeOne(store, { worker: LOST, leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    const [reaped] = await store.reap({ limit: 10 });
    assert.deepEqual([reaped?.charged, reaped?.attempts, reaped?.crashes], [false, 0, 0]);
    const stored = await jobOf(store, job);
    assert.deepEqual([stored.status, stored.attempts, stored.history.length], ["queued", 0, 0]);
    assert.ok(stored.fence > late.fence, "the fence moves on");
  },

  "what a worker knew of is charged when its lease runs out": async ({ store, place }) => {
    await insertSome(store, 2);
    const [known] = await takeExactly(store, 2, { worker: LOST, leaseMs: SHORT_MS });
    assert.ok(known);
    await disownAll(store, [known]);
    await place.advance(PASSED_MS);
    const reaped = await store.reap({ limit: 10 });
    assert.deepEqual(
      reaped.map(({ id, charged, crashes }) => [id, charged, crashes]),
      [[known.id, true, 1]],
    );
  },

  "a started job that is disowned goes back uncharged": async ({ store }) => {
    const job = await insertOne(store);
    const lost = await takeOne(store, { worker: LOST });
    await start(store, [lost]);
    assert.equal(await disownAll(store), 1);
    assert.equal((await jobOf(store, job)).crashes, 0);
  },

  "a job whose cancellation was asked for ends cancelled": async ({ store }) => {
    const job = await insertOne(store);
    await takeOne(store, { worker: LOST });
    await store.cancel({ ids: [{ id: job.id }] }, { reason: "no longer needed", by: "ops" });
    assert.equal(await disownAll(store), 1);
    const { status, reason, by } = await jobOf(store, job);
    assert.deepEqual([status, reason, by], ["cancelled", "no longer needed", "ops"]);
    await takeNothing(store);
  },

  "what goes back makes room in its line and its queue": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxActive: 2, maxActivePerGroup: 1 }]);
    await insertSome(store, 2, { group: "a" });
    await insertSome(store, 2, { group: "b" });
    const lost = await takeExactly(store, 2, { worker: LOST });
    await takeNothing(store);
    assert.equal(await disownAll(store), 2);
    const again = await takeExactly(store, 2, { worker: "worker-2" });
    assert.deepEqual(sortedIdsOf(again), sortedIdsOf(lost));
  },

  "jobs in any state of their lives go back": async ({ store }) => {
    // Retried, in a group, with a key, with a checkpoint: whatever way a store keeps them.
    const plain = await insertSome(store, 3);
    const grouped = await insertOne(store, { group: "tenant-7" });
    const urgent = await insertOne(store, { priority: 1, tags: ["beta"], meta: "{}" });
    const leased = await takeExactly(store, 5, { worker: LOST });
    assert.equal(leased.length, 5);
    assert.equal(await disownAll(store), 5);
    const again = await takeExactly(store, 5, { worker: "worker-2" });
    assert.deepEqual(sortedIdsOf(again), sortedIdsOf([...plain, grouped, urgent]));
    assert.deepEqual(
      again.map(({ attempt, crashes }) => [attempt, crashes]),
      again.map(() => [1, 0]),
    );
    for (const job of again) await settle(store, job, succeed());
  },

  "another connection hears of it": async ({ store, another, place }) => {
    await insertOne(store, { maxAttempts: 1 });
    await disownAll(store);
    await takeOne(store, { worker: LOST, leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    const reaped = await (await another()).reap({ limit: 10 });
    assert.deepEqual(
      reaped.map(({ charged }) => charged),
      [false],
    );
  },
});
