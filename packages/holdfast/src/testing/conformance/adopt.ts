import assert from "node:assert/strict";
import type { AttemptRecord } from "../../core/job.ts";
import { assertCounts, jobOf } from "./looking.ts";
import {
  adoptAll,
  adoptedJob,
  adoptOne,
  idsOf,
  insertAll,
  insertOne,
  key,
  newJob,
  QUEUE,
} from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { FAILURE } from "./settling.ts";
import { takeExactly, takeNothing, takeOne } from "./take.ts";
import { HOUR_MS, LONG_MS } from "./times.ts";

const CRASHED: AttemptRecord = {
  attempt: 1,
  fence: 41,
  worker: "old-worker",
  startedAt: 1_000_100,
  endedAt: 1_000_200,
  outcome: "crashed",
  category: null,
  message: null,
  stack: null,
};

export const adopt = chapter("adopt", {
  "an adopted job is kept as it was elsewhere": async ({ store }) => {
    const adopted = await adoptOne(store, {
      status: "dead",
      group: "tenant-7",
      attempts: 2,
      crashes: 1,
      fence: 42,
      error: FAILURE,
      reason: "failed",
      checkpoint: '{"row":100}',
      steps: [{ name: "charge", value: '"ch_1"' }],
      logs: [{ at: 1_000_150, text: "half way" }],
      history: [CRASHED],
      tags: ["imported"],
      meta: '{"from":"elsewhere"}',
      startedAt: 1_000_300,
      finishedAt: 1_000_400,
    });
    const job = await jobOf(store, adopted);
    const { dedupe: _, ...expected } = adopted;
    assert.deepEqual({ ...job, ...expected }, job);
  },

  "a job tells how long its key blocks": async ({ store }) => {
    for (const lifetime of ["kept", "until-finished", { ttlMs: LONG_MS }] as const) {
      const dedupe = key(JSON.stringify(lifetime), lifetime);
      const createdAt = await store.now();
      const { keyLifetime } = await jobOf(store, await adoptOne(store, { dedupe, createdAt }));
      assert.deepEqual(keyLifetime, lifetime);
      const { keyLifetime: ofInserted } = await jobOf(
        store,
        await insertOne(store, { dedupe: key(`inserted ${dedupe.key}`, lifetime) }),
      );
      assert.deepEqual(ofInserted, lifetime);
    }
    assert.equal((await jobOf(store, await insertOne(store))).keyLifetime, null);
  },

  "a waiting adopted job is leased, with what it brought along": async ({ store }) => {
    const adopted = await adoptOne(store, {
      attempts: 2,
      crashes: 1,
      checkpoint: '{"row":100}',
      steps: [{ name: "charge", value: '"ch_1"' }],
    });
    const leased = await takeOne(store);
    assert.equal(leased.id, adopted.id);
    assert.deepEqual(
      [leased.attempt, leased.crashes, leased.checkpoint, leased.steps, leased.createdAt],
      [3, 1, '{"row":100}', adopted.steps, adopted.createdAt],
    );
  },

  "the fence of an adopted job grows on from its own": async ({ store }) => {
    const ahead = ((await store.now()) + 10 * HOUR_MS) * 1_000;
    await adoptOne(store, { fence: ahead });
    assert.ok((await takeOne(store)).fence > ahead);
  },

  "an adopted job that is due later waits": async ({ store }) => {
    const runAt = (await store.now()) + LONG_MS;
    await adoptOne(store, { runAt });
    await takeNothing(store);
    await assertCounts(store, { delayed: 1 });
  },

  "adopting again changes nothing": async ({ store }) => {
    const adopted = await adoptOne(store, { status: "cancelled", finishedAt: 1_000_400 });
    const before = await jobOf(store, adopted);
    const again = { ...adopted, status: "queued" as const, payload: '"other"' };
    assert.deepEqual(await store.adopt([again]), [
      { outcome: "duplicate", id: adopted.id, status: "cancelled" },
    ]);
    assert.deepEqual(await jobOf(store, adopted), before);
  },

  "adopt and insert share their ids": async ({ store }) => {
    const job = newJob();
    await insertAll(store, [job]);
    assert.deepEqual(await store.adopt([adoptedJob({ id: job.id })]), [
      { outcome: "duplicate", id: job.id, status: "queued" },
    ]);
  },

  "adopt and insert share their keys": async ({ store }) => {
    const adopted = await adoptOne(store, { dedupe: key("k") });
    const [same, other] = [
      newJob({ dedupe: key("k") }),
      newJob({ dedupe: key("k", "kept", "hash-2") }),
    ];
    assert.deepEqual(await store.insert([same, other]), [
      { outcome: "duplicate", id: adopted.id, status: "queued" },
      { outcome: "conflict", id: adopted.id, status: "queued" },
    ]);
  },

  "an adopted job takes no key whose lifetime is over": async ({ store }) => {
    await adoptOne(store, {
      status: "dead",
      finishedAt: 1_000_400,
      dedupe: key("finished", "until-finished"),
    });
    await adoptOne(store, { createdAt: 1_000_000, dedupe: key("expired", { ttlMs: LONG_MS }) });
    await insertAll(store, [
      newJob({ dedupe: key("finished", "until-finished") }),
      newJob({ dedupe: key("expired") }),
    ]);
  },

  "adopt goes into a full queue": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 1 }]);
    await adoptAll(store, [adoptedJob(), adoptedJob()]);
  },

  "adopted jobs of every status are counted": async ({ store }) => {
    await adoptAll(store, [
      adoptedJob(),
      adoptedJob({ status: "succeeded", result: "1", finishedAt: 1_000_400 }),
      adoptedJob({ status: "dead", reason: "failed", finishedAt: 1_000_400 }),
      adoptedJob({ status: "cancelled", finishedAt: 1_000_400 }),
    ]);
    await assertCounts(store, { ready: 1, succeeded: 1, dead: 1, cancelled: 1 });
  },

  "adopted jobs line up in the order of the call": async ({ store }) => {
    const jobs = [adoptedJob(), adoptedJob(), adoptedJob()];
    await adoptAll(store, jobs);
    assert.deepEqual(idsOf(await takeExactly(store, 3)), idsOf(jobs));
  },

  "an adopted job that died elsewhere can be revived here": async ({ store }) => {
    const job = await adoptOne(store, {
      status: "dead",
      attempts: 5,
      fence: 42,
      reason: "failed",
      error: FAILURE,
      finishedAt: 1_000_400,
    });
    const revival = { delayMs: 0, runAt: null, attempts: 1 };
    await store.revive({ ids: [{ id: job.id }] }, revival, { reason: null, by: "ann" });
    const leased = await takeOne(store);
    assert.deepEqual([leased.id, leased.attempt, leased.maxAttempts], [job.id, 6, 6]);
    assert.ok(leased.fence > 42);
  },
});
