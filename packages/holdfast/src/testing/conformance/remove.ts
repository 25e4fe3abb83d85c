import assert from "node:assert/strict";
import { inSteps } from "./in-steps.ts";
import { assertCounts, assertPruned, FINISHED, findAll, jobOf } from "./looking.ts";
import {
  adoptAll,
  adoptedJob,
  adoptOne,
  insertOne,
  insertSome,
  newId,
  QUEUE,
  sortedIdsOf,
} from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { renew, settle, succeed } from "./settling.ts";
import { takeNothing, takeOne } from "./take.ts";
import { LONG_MS, TICK_MS } from "./times.ts";

const WHY = { reason: "test data", by: "ann" };

export const remove = chapter("remove", {
  "a waiting job is removed": async ({ store }) => {
    const job = await insertOne(store);
    assert.deepEqual(await store.remove({ ids: [{ id: job.id }] }, WHY), {
      changes: [{ id: job.id, result: "done", status: null }],
      nextCursor: null,
    });
    await takeNothing(store);
    await assertPruned(store, job);
  },

  "delayed and finished jobs are removed": async ({ store }) => {
    const jobs = [
      await insertOne(store, { delayMs: LONG_MS }),
      ...(await Promise.all(
        FINISHED.map((status) => adoptOne(store, { status, finishedAt: 1_000_400 })),
      )),
    ];
    const refs = jobs.map(({ id }) => ({ id }));
    const { changes } = await store.remove({ ids: refs }, WHY);
    assert.deepEqual(new Set(changes.map((change) => change.result)), new Set(["done"]));
    assert.deepEqual(await findAll(store, {}), []);
    await assertCounts(store, {});
  },

  "a running job refuses": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    assert.deepEqual((await store.remove({ ids: [{ id: job.id }] }, WHY)).changes, [
      { id: job.id, result: "refused", status: "processing" },
    ]);
    assert.equal(await renew(store, leased), "kept");
    await settle(store, leased, succeed());
    assert.equal((await jobOf(store, job)).status, "succeeded");
  },

  "the id of a removed job stays taken": async ({ store }) => {
    const job = await insertOne(store);
    await store.remove({ ids: [{ id: job.id }] }, WHY);
    assert.deepEqual(await store.insert([job]), [
      { outcome: "duplicate", id: job.id, status: "pruned" },
    ]);
    assert.deepEqual(await store.adopt([adoptedJob({ id: job.id })]), [
      { outcome: "duplicate", id: job.id, status: "pruned" },
    ]);
    await takeNothing(store);
  },

  "removing again finds nothing": async ({ store }) => {
    const job = await insertOne(store);
    await store.remove({ ids: [{ id: job.id }] }, WHY);
    assert.deepEqual(
      (await store.remove({ ids: [{ id: job.id }, { id: newId() }] }, WHY)).changes.map(
        (change) => change.result,
      ),
      ["missing", "missing"],
    );
  },

  "a removed job makes room in a full queue": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 1 }]);
    const job = await insertOne(store);
    await store.remove({ ids: [{ id: job.id }] }, WHY);
    await insertOne(store);
  },

  "removing one job leaves its neighbours": async ({ store }) => {
    const [first, second, third] = await insertSome(store, 3);
    await store.remove({ ids: [{ id: second?.id ?? "" }] }, WHY);
    assert.equal((await takeOne(store)).id, first?.id);
    assert.equal((await takeOne(store)).id, third?.id);
    await takeNothing(store);
  },

  "all jobs of a filter are removed, in steps": async ({ store, place }) => {
    const dead = Array.from({ length: 14 }, () =>
      adoptedJob({
        status: "dead",
        error: { category: "auth", message: "401", stack: null, fingerprint: null },
        finishedAt: 1_000_400,
      }),
    );
    await adoptAll(store, dead);
    const kept = await adoptOne(store, { status: "dead", finishedAt: 1_000_400 });
    await place.advance(TICK_MS);
    const changes = await inSteps((target) => store.remove(target, WHY), {
      filter: { status: ["dead"], category: "auth" },
      frozenAt: await store.now(),
      limit: 5,
    });
    assert.deepEqual(sortedIdsOf(changes), sortedIdsOf(dead));
    assert.deepEqual(sortedIdsOf(await findAll(store, {})), [kept.id]);
  },

  "a filter that also matches running jobs leaves them": async ({ store, place }) => {
    await insertSome(store, 3);
    const running = await takeOne(store);
    await place.advance(TICK_MS);
    await inSteps((target) => store.remove(target, WHY), {
      filter: { queue: QUEUE },
      frozenAt: await store.now(),
      limit: 10,
    });
    assert.deepEqual(sortedIdsOf(await findAll(store, {})), [running.id]);
  },
});
