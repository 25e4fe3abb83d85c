/** Idempotency keys: how long each blocks a second job, and what frees it. */
import assert from "node:assert/strict";
import { assertPruned, jobOf } from "./looking.ts";
import { insertOne, key, newJob, QUEUE } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { die, retry, settle, succeed } from "./settling.ts";
import { take, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS, TICK_MS } from "./times.ts";

const EVERYTHING = [
  { queue: QUEUE, status: "succeeded" as const, olderThanMs: 0, keep: null },
  { queue: QUEUE, status: "dead" as const, olderThanMs: 0, keep: null },
];
const NOBODY = { reason: null, by: null };

export const keys = chapter("idempotency keys", {
  "a second job with the same key and hash is a duplicate of the first": async ({ store }) => {
    const first = await insertOne(store, { dedupe: key("k") });
    assert.deepEqual(await store.insert([newJob({ dedupe: key("k") })]), [
      { outcome: "duplicate", id: first.id, status: "queued" },
    ]);
  },

  "the same key with another hash is a conflict": async ({ store }) => {
    const first = await insertOne(store, { dedupe: key("k") });
    const other = newJob({ dedupe: key("k", "kept", "hash-2") });
    assert.deepEqual(await store.insert([other]), [
      { outcome: "conflict", id: first.id, status: "queued" },
    ]);
    assert.deepEqual(await store.get([{ id: other.id }]), [null]);
  },

  "inside one call the earlier job has the key": async ({ store }) => {
    const [first, second, third] = [
      newJob({ dedupe: key("k") }),
      newJob({ dedupe: key("k") }),
      newJob({ dedupe: key("k", "kept", "hash-2") }),
    ];
    assert.deepEqual(await store.insert([first, second, third]), [
      { outcome: "added", id: first.id },
      { outcome: "duplicate", id: first.id, status: "queued" },
      { outcome: "conflict", id: first.id, status: "queued" },
    ]);
  },

  "the scope of a key is its queue": async ({ store }) => {
    await insertOne(store, { dedupe: key("k") });
    await insertOne(store, { queue: "sms", dedupe: key("k") });
  },

  "the groups of a queue share their keys": async ({ store }) => {
    const first = await insertOne(store, { group: "a", dedupe: key("k") });
    assert.deepEqual(await store.insert([newJob({ group: "b", dedupe: key("k") })]), [
      { outcome: "duplicate", id: first.id, status: "queued" },
    ]);
  },

  "jobs without a key never block each other": async ({ store }) => {
    await insertOne(store);
    await insertOne(store);
  },

  "a duplicate id takes no second key": async ({ store }) => {
    const first = await insertOne(store, { dedupe: key("first") });
    await store.insert([{ ...first, dedupe: key("second") }]);
    await insertOne(store, { dedupe: key("second") });
  },

  "a kept key blocks while its job runs and after it succeeded": async ({ store }) => {
    const first = await insertOne(store, { dedupe: key("k") });
    const leased = await takeOne(store);
    assert.deepEqual(await store.insert([newJob({ dedupe: key("k") })]), [
      { outcome: "duplicate", id: first.id, status: "processing" },
    ]);
    await settle(store, leased, succeed());
    assert.deepEqual(await store.insert([newJob({ dedupe: key("k") })]), [
      { outcome: "duplicate", id: first.id, status: "succeeded" },
    ]);
  },

  "a dead job's kept key still blocks": async ({ store }) => {
    const first = await insertOne(store, { dedupe: key("k") });
    await settle(store, await takeOne(store), die());
    assert.deepEqual(await store.insert([newJob({ dedupe: key("k") })]), [
      { outcome: "duplicate", id: first.id, status: "dead" },
    ]);
  },

  "a kept key is free once its job is pruned": async ({ store, place }) => {
    await insertOne(store, { dedupe: key("k") });
    await settle(store, await takeOne(store), succeed());
    await place.advance(TICK_MS);
    assert.equal(await store.prune(EVERYTHING, 10), 1);
    await insertOne(store, { dedupe: key("k") });
  },

  "a kept key is free once its job finished and was not kept": async ({ store }) => {
    await insertOne(store, { dedupe: key("k") });
    await settle(store, await takeOne(store), succeed(), { discard: true });
    await insertOne(store, { dedupe: key("k") });
  },

  "a key with a time blocks until then": async ({ store, place }) => {
    const first = await insertOne(store, { dedupe: key("long", { ttlMs: LONG_MS }) });
    await insertOne(store, { dedupe: key("short", { ttlMs: SHORT_MS }) });
    await place.advance(PASSED_MS);
    assert.deepEqual(await store.insert([newJob({ dedupe: key("long", { ttlMs: LONG_MS }) })]), [
      { outcome: "duplicate", id: first.id, status: "queued" },
    ]);
    await insertOne(store, { dedupe: key("short", { ttlMs: LONG_MS }) });
  },

  "a key whose time has passed is no conflict either": async ({ store, place }) => {
    await insertOne(store, { dedupe: key("k", { ttlMs: SHORT_MS }) });
    await place.advance(PASSED_MS);
    await insertOne(store, { dedupe: key("k", { ttlMs: LONG_MS }, "hash-2") });
  },

  "a key with a time outlives its pruned job": async ({ store, place }) => {
    const first = await insertOne(store, { dedupe: key("k", { ttlMs: LONG_MS }) });
    await settle(store, await takeOne(store), succeed());
    await place.advance(TICK_MS);
    assert.equal(await store.prune(EVERYTHING, 10), 1);
    await assertPruned(store, first);
    const [again, other] = [
      newJob({ dedupe: key("k", { ttlMs: LONG_MS }) }),
      newJob({ dedupe: key("k", { ttlMs: LONG_MS }, "hash-2") }),
    ];
    assert.deepEqual(await store.insert([again, other]), [
      { outcome: "duplicate", id: first.id, status: "pruned" },
      { outcome: "conflict", id: first.id, status: "pruned" },
    ]);
  },

  "a key with a time outlives a job that was not kept": async ({ store }) => {
    const first = await insertOne(store, { dedupe: key("k", { ttlMs: LONG_MS }) });
    await settle(store, await takeOne(store), succeed(), { discard: true });
    assert.deepEqual(await store.insert([newJob({ dedupe: key("k", { ttlMs: LONG_MS }) })]), [
      { outcome: "duplicate", id: first.id, status: "pruned" },
    ]);
  },

  "an older job never frees the key of a newer one": async ({ store, place }) => {
    const older = await insertOne(store, { dedupe: key("k", { ttlMs: SHORT_MS }) });
    await place.advance(PASSED_MS);
    const newer = await insertOne(store, { dedupe: key("k"), delayMs: LONG_MS });
    await settle(store, await takeOne(store), succeed());
    await store.remove({ ids: [{ id: older.id }] }, NOBODY);
    assert.deepEqual(await store.insert([newJob({ dedupe: key("k") })]), [
      { outcome: "duplicate", id: newer.id, status: "queued" },
    ]);
  },

  "a key until finished blocks through retries": async ({ store }) => {
    const first = await insertOne(store, { dedupe: key("k", "until-finished") });
    await settle(store, await takeOne(store), retry(LONG_MS));
    assert.deepEqual(await store.insert([newJob({ dedupe: key("k", "until-finished") })]), [
      { outcome: "duplicate", id: first.id, status: "queued" },
    ]);
  },

  "a key until finished is free once its job succeeded, died or was cancelled": async ({
    store,
  }) => {
    for (const outcome of [succeed(), die()]) {
      await insertOne(store, { dedupe: key("k", "until-finished") });
      await settle(store, await takeOne(store), outcome);
    }
    const waiting = await insertOne(store, { dedupe: key("k", "until-finished") });
    await store.cancel({ ids: [{ id: waiting.id }] }, NOBODY);
    await insertOne(store, { dedupe: key("k", "until-finished") });
  },

  "a revived job takes its key until finished again, if it is free": async ({ store }) => {
    const job = await insertOne(store, { dedupe: key("k", "until-finished") });
    await settle(store, await takeOne(store), die());
    const revival = { delayMs: LONG_MS, runAt: null, attempts: 1 };
    await store.revive({ ids: [{ id: job.id }] }, revival, NOBODY);
    assert.deepEqual(await store.insert([newJob({ dedupe: key("k", "until-finished") })]), [
      { outcome: "duplicate", id: job.id, status: "queued" },
    ]);
  },

  "a revived job never frees the key that another job took meanwhile": async ({ store }) => {
    const older = await insertOne(store, { dedupe: key("k", "until-finished") });
    await settle(store, await takeOne(store), die());
    const newer = await insertOne(store, {
      dedupe: key("k", "until-finished"),
      delayMs: LONG_MS,
    });
    const revival = { delayMs: 0, runAt: null, attempts: 1 };
    await store.revive({ ids: [{ id: older.id }] }, revival, NOBODY);
    for (const job of await take(store, 1)) await settle(store, job, succeed());
    assert.deepEqual(await store.insert([newJob({ dedupe: key("k", "until-finished") })]), [
      { outcome: "duplicate", id: newer.id, status: "queued" },
    ]);
  },

  "removing a job frees its key, whatever its lifetime": async ({ store }) => {
    for (const lifetime of ["kept", "until-finished", { ttlMs: LONG_MS }] as const) {
      const job = await insertOne(store, { dedupe: key("k", lifetime) });
      await store.remove({ ids: [{ id: job.id }] }, NOBODY);
    }
    await insertOne(store, { dedupe: key("k") });
  },

  "a job shows the key it was inserted with": async ({ store }) => {
    const job = await insertOne(store, { dedupe: key("welcome:b@example.com") });
    assert.equal((await jobOf(store, job)).dedupeKey, "welcome:b@example.com");
  },
});
