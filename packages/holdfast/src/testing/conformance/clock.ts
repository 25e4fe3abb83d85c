/**
 * Law 6 on a host whose clock is set: back, and nothing that was over is open again; far ahead, and
 * what was kept only for a time is gone.
 */
import assert from "node:assert/strict";
import { assertCounts, assertPruned, jobOf } from "./looking.ts";
import { insertOne, key, newJob, sortedIdsOf } from "./new-job.ts";
import type { StorePlace } from "./scenario.ts";
import { chapter } from "./scenario.ts";
import { settle, succeed } from "./settling.ts";
import { leaseRequest, take, takeNothing, takeOne } from "./take.ts";
import { HOUR_MS, PASSED_MS, SHORT_MS } from "./times.ts";

async function setBack(place: StorePlace): Promise<void> {
  assert.ok(place.rewind, "the place can set its clock back");
  await place.rewind(HOUR_MS);
}

export const clock = chapter("a clock that can be set", {
  "the store's clock does not follow its host's back": async ({ store, place, another }) => {
    const before = await store.now();
    await setBack(place);
    assert.ok((await store.now()) >= before);
    assert.ok((await (await another()).now()) >= before);
  },

  "a due job stays due when the clock is set back": async ({ store, place }) => {
    const job = await insertOne(store, { delayMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await assertCounts(store, { ready: 1 });
    await setBack(place);
    assert.equal((await takeOne(store)).id, job.id);
  },

  "a lease that ran out is not running again when the clock is set back": async ({
    store,
    place,
  }) => {
    const job = await insertOne(store);
    await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await store.now();
    await setBack(place);
    assert.equal((await store.reap({ limit: 1 }))[0]?.id, job.id);
  },

  "a new job is ready, and not older than the last one, when the clock is set back": async ({
    store,
    place,
  }) => {
    await insertOne(store);
    const before = await takeOne(store);
    await settle(store, before, succeed());
    await setBack(place);
    const job = await insertOne(store);
    const after = await takeOne(store);
    assert.equal(after.id, job.id);
    const { createdAt, finishedAt } = await jobOf(store, { id: before.id });
    assert.ok((await jobOf(store, job)).createdAt >= Math.max(createdAt, finishedAt ?? 0));
  },

  "a hold that ended and a key that expired stay so when the clock is set back": async ({
    store,
    place,
  }) => {
    const job = await insertOne(store, { dedupe: key("k", { ttlMs: SHORT_MS }) });
    const hold = { forMs: SHORT_MS, reason: "cooling down", by: null };
    await store.hold([{ queue: job.queue, group: null, owner: "cooldown", hold }]);
    await place.advance(PASSED_MS);
    await store.now();
    await setBack(place);
    const [result] = await store.insert([newJob({ dedupe: key("k") })]);
    assert.equal(result?.outcome, "added");
    assert.equal((await takeOne(store)).id, job.id);
  },

  "a clock that was ahead and is put right goes on: what is delayed falls due, leases run out":
    async ({ store, place }) => {
      const running = await insertOne(store);
      await takeOne(store, { leaseMs: SHORT_MS });
      await setBack(place);
      const delayed = await insertOne(store, { delayMs: SHORT_MS });
      await place.advance(2 * PASSED_MS);
      const [reaped] = await store.reap({ limit: 1 });
      assert.equal(reaped?.id, running.id);
      assert.deepEqual(sortedIdsOf(await take(store, 2)), sortedIdsOf([running, delayed]));
    },

  "a clock that was ahead and is put right goes on for every store object": async ({
    store,
    place,
    another,
  }) => {
    await insertOne(store);
    await setBack(place);
    const before = await store.now();
    const other = await another();
    const job = await insertOne(other, { queue: "sms", delayMs: SHORT_MS });
    await place.advance(2 * PASSED_MS);
    assert.equal((await takeOne(store, { queue: "sms" })).id, job.id);
    const [mine, others] = [await store.now(), await other.now()];
    assert.ok(mine > before && others >= mine);
  },

  "a queue without jobs or settings is forgotten an hour after its last use": async ({
    store,
    place,
  }) => {
    for (const queue of ["used", "capped", "held", "waiting"]) await insertOne(store, { queue });
    for (const queue of ["used", "capped", "held"]) {
      await settle(store, await takeOne(store, { queue }), succeed(), { discard: true });
    }
    await store.limit([{ queue: "capped", group: null, maxActive: 1 }]);
    const hold = { forMs: null, reason: "closed", by: null };
    await store.hold([{ queue: "held", group: "g", owner: "pause", hold }]);
    await store.prune([], 100);
    const names = async () => (await store.count()).map(({ queue }) => queue);
    assert.ok((await names()).includes("used"));
    await place.advance(2 * HOUR_MS);
    await store.prune([], 100);
    await store.prune([], 100);
    assert.deepEqual(await names(), ["capped", "held", "waiting"]);
    const again = await insertOne(store, { queue: "used" });
    assert.equal((await takeOne(store, { queue: "used" })).id, again.id);
  },

  "deleted jobs are remembered for as long as info says, and not for ever": async ({
    store,
    place,
  }) => {
    const job = await insertOne(store);
    await store.remove({ ids: [{ id: job.id }] }, { reason: null, by: null });
    const { remembersMs } = store.info();
    await place.advance(remembersMs - HOUR_MS / 60);
    await store.prune([], 100);
    await assertPruned(store, job);
    await place.advance(HOUR_MS / 30);
    await store.prune([], 100);
    assert.deepEqual(await store.get([{ id: job.id }]), [null]);
  },

  "a job that is due in a year waits that long": async ({ store, place }) => {
    const year = 365 * 24 * HOUR_MS;
    const job = await insertOne(store, { delayMs: year });
    const { nextInMs } = await store.lease(leaseRequest(1));
    assert.ok(nextInMs !== null && nextInMs > year - HOUR_MS && nextInMs <= year);
    await place.advance(year - HOUR_MS);
    await takeNothing(store);
    await place.advance(HOUR_MS);
    assert.equal((await takeOne(store)).id, job.id);
  },
});
