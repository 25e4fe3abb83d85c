import assert from "node:assert/strict";
import { jobOf } from "./looking.ts";
import { idsOf, insertOne, insertSome } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { leaseRef, renew as renewOne, retry, settle, settleLost, succeed } from "./settling.ts";
import { takeExactly, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

const UPDATES = {
  progress: { percent: 50, message: "half way" },
  logs: ["still here"],
  checkpoint: '{"row":100}',
  steps: [{ name: "charge", value: '"ch_1"' }],
};

export const renew = chapter("renew", {
  "a renewed lease lasts that long from now": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store, { leaseMs: SHORT_MS });
    const before = await store.now();
    assert.equal(await renewOne(store, leased, undefined, LONG_MS), "kept");
    const after = await store.now();
    const { leaseUntil } = await jobOf(store, job);
    assert.ok(leaseUntil !== null);
    assert.ok(before + LONG_MS <= leaseUntil && leaseUntil <= after + LONG_MS);
  },

  "a renewed lease is not reaped": async ({ store, place }) => {
    await insertOne(store);
    const leased = await takeOne(store, { leaseMs: SHORT_MS });
    await renewOne(store, leased);
    await place.advance(PASSED_MS);
    assert.deepEqual(await store.reap({ limit: 10 }), []);
  },

  "a renewal changes neither attempt nor fence": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await renewOne(store, leased);
    const { attempts, fence, startedAt, worker } = await jobOf(store, job);
    assert.deepEqual([attempts, fence, worker], [1, leased.fence, "worker-1"]);
    assert.ok(startedAt !== null);
  },

  "a lease that ran out but was not reaped is still its holder's": async ({ store, place }) => {
    await insertOne(store);
    const leased = await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    assert.equal(await renewOne(store, leased), "kept");
    assert.deepEqual(await store.reap({ limit: 10 }), []);
    await settle(store, leased, succeed());
  },

  "a reaped lease is lost": async ({ store, place }) => {
    await insertOne(store);
    const leased = await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await store.reap({ limit: 1 });
    assert.equal(await renewOne(store, leased), "lost");
  },

  "a lost renewal does not revive a reaped lease": async ({ store, place }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await store.reap({ limit: 1 });
    const before = await jobOf(store, job);
    await renewOne(store, leased, UPDATES);
    assert.deepEqual(await jobOf(store, job), before);
    assert.equal((await takeOne(store, { worker: "worker-2" })).id, job.id);
  },

  "a stale renewal changes nothing of the new holder's attempt": async ({ store, place }) => {
    const job = await insertOne(store);
    const stale = await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await store.reap({ limit: 1 });
    await takeOne(store, { worker: "worker-2" });
    const before = await jobOf(store, job);
    assert.equal(await renewOne(store, stale, UPDATES, 10 * LONG_MS), "lost");
    assert.deepEqual(await jobOf(store, job), before);
  },

  "a settled lease is lost": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await settle(store, leased, succeed());
    const before = await jobOf(store, job);
    assert.equal(await renewOne(store, leased, UPDATES), "lost");
    assert.deepEqual(await jobOf(store, job), before);
  },

  "the lease of an earlier attempt is lost, even to the same worker": async ({ store }) => {
    await insertOne(store);
    const first = await takeOne(store);
    await settle(store, first, retry());
    const second = await takeOne(store);
    assert.equal(await renewOne(store, first), "lost");
    assert.equal(await renewOne(store, second), "kept");
  },

  "a fence that was never given out is lost": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const before = await jobOf(store, job);
    for (const fence of [leased.fence - 1, leased.fence + 1]) {
      assert.equal(await renewOne(store, { ...leased, fence }, UPDATES), "lost");
      await settleLost(store, { ...leased, fence }, succeed());
    }
    assert.deepEqual(await jobOf(store, job), before);
  },

  "the lease of a job that is gone is lost": async ({ store }) => {
    await insertOne(store);
    const leased = await takeOne(store);
    await settle(store, leased, succeed(), { discard: true });
    assert.equal(await renewOne(store, leased), "lost");
  },

  "a lost item hinders no other, and results keep the order": async ({ store }) => {
    await insertSome(store, 3);
    const leased = await takeExactly(store, 3);
    const [, second] = leased;
    assert.ok(second);
    await settle(store, second, succeed());
    const renewals = leased.map((job) => ({ ...leaseRef(job), updates: UPDATES }));
    assert.deepEqual(await store.renew(renewals, LONG_MS), ["kept", "lost", "kept"]);
    const checkpoints = await Promise.all(leased.map((job) => jobOf(store, job)));
    assert.deepEqual(
      checkpoints.map((job) => job.checkpoint),
      [UPDATES.checkpoint, null, UPDATES.checkpoint],
    );
  },

  "two hundred leases are renewed in one call": async ({ store, place }) => {
    await insertSome(store, 200);
    const leased = await takeExactly(store, 200, { leaseMs: SHORT_MS });
    const results = await store.renew(leased.map(leaseRef), LONG_MS);
    assert.deepEqual(new Set(results), new Set(["kept"]));
    assert.equal(results.length, 200);
    await place.advance(PASSED_MS);
    assert.deepEqual(idsOf(await store.reap({ limit: 200 })), []);
  },
});
