import assert from "node:assert/strict";
import { inSteps } from "./in-steps.ts";
import { jobOf } from "./looking.ts";
import {
  adoptOne,
  idsOf,
  insertOne,
  insertSome,
  newId,
  newJob,
  QUEUE,
  sortedIdsOf,
} from "./new-job.ts";
import { chapter } from "./scenario.ts";
import {
  cancelled,
  defer,
  die,
  release,
  renew,
  retry,
  settle,
  snooze,
  succeed,
} from "./settling.ts";
import { takeExactly, takeNothing, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS, TICK_MS } from "./times.ts";

const WHY = { reason: "ordered twice", by: "ann" };

export const cancel = chapter("cancel", {
  "a waiting job is cancelled at once": async ({ store }) => {
    const job = await insertOne(store);
    assert.deepEqual(await store.cancel({ ids: [{ id: job.id, queue: QUEUE }] }, WHY), {
      changes: [{ id: job.id, result: "done", status: "cancelled" }],
      nextCursor: null,
    });
    const { status, reason, by, finishedAt } = await jobOf(store, job);
    assert.deepEqual([status, reason, by], ["cancelled", "ordered twice", "ann"]);
    assert.ok(finishedAt !== null);
    await takeNothing(store);
  },

  "a delayed job is cancelled at once and never becomes due": async ({ store, place }) => {
    const job = await insertOne(store, { delayMs: SHORT_MS });
    const { changes } = await store.cancel({ ids: [{ id: job.id }] }, WHY);
    assert.equal(changes[0]?.result, "done");
    await place.advance(PASSED_MS);
    await takeNothing(store);
  },

  "a running job is asked, and its holder hears of it": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    assert.equal(await renew(store, leased), "kept");
    assert.deepEqual(await store.cancel({ ids: [{ id: job.id }] }, WHY), {
      changes: [{ id: job.id, result: "asked", status: "processing" }],
      nextCursor: null,
    });
    const { status, cancelAsked } = await jobOf(store, job);
    assert.deepEqual([status, cancelAsked], ["processing", true]);
    assert.equal(await renew(store, leased), "cancel");
  },

  "a renewal that hears of a cancellation still extends the lease and writes": async ({
    store,
    place,
  }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store, { leaseMs: SHORT_MS });
    await store.cancel({ ids: [{ id: job.id }] }, WHY);
    assert.equal(await renew(store, leased, { checkpoint: "1" }), "cancel");
    await place.advance(PASSED_MS);
    assert.deepEqual(await store.reap({ limit: 10 }), []);
    assert.equal((await jobOf(store, job)).checkpoint, "1");
  },

  "a job that succeeds although it was asked to stop has succeeded": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await store.cancel({ ids: [{ id: job.id }] }, WHY);
    await settle(store, leased, succeed("1"));
    const { status, result } = await jobOf(store, job);
    assert.deepEqual([status, result], ["succeeded", "1"]);
  },

  "a job that was asked to stop ends cancelled unless it succeeded": async ({ store }) => {
    for (const outcome of [retry(), defer(), snooze(), release(), die(), cancelled("stopped")]) {
      const job = await insertOne(store);
      const leased = await takeOne(store);
      await store.cancel({ ids: [{ id: job.id }] }, WHY);
      await settle(store, leased, outcome);
      const { status, finishedAt, leaseUntil } = await jobOf(store, job);
      assert.deepEqual([status, leaseUntil], ["cancelled", null], `after ${outcome.kind}`);
      assert.ok(finishedAt !== null);
      await takeNothing(store);
    }
  },

  "a cancelled running job keeps who stopped it and why": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await store.cancel({ ids: [{ id: job.id }] }, WHY);
    await settle(store, leased, retry());
    const { reason, by } = await jobOf(store, job);
    assert.deepEqual([reason, by], ["ordered twice", "ann"]);
  },

  "a job that was asked to stop and crashes ends cancelled": async ({ store, place }) => {
    const job = await insertOne(store);
    await takeOne(store, { leaseMs: SHORT_MS });
    await store.cancel({ ids: [{ id: job.id }] }, WHY);
    await place.advance(PASSED_MS);
    const [reaped] = await store.reap({ limit: 1 });
    assert.deepEqual([reaped?.id, reaped?.status], [job.id, "cancelled"]);
    const { status, crashes } = await jobOf(store, job);
    assert.deepEqual([status, crashes], ["cancelled", 1]);
    await takeNothing(store);
  },

  "a discarded job that was asked to stop is not kept either": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await store.cancel({ ids: [{ id: job.id }] }, WHY);
    await settle(store, leased, retry(), { discard: true });
    assert.deepEqual(await store.get([{ id: job.id }]), ["pruned"]);
    await takeNothing(store);
  },

  "succeeded and dead jobs refuse": async ({ store }) => {
    for (const status of ["succeeded", "dead"] as const) {
      const job = await adoptOne(store, { status, finishedAt: 1_000_400 });
      const before = await jobOf(store, job);
      assert.deepEqual((await store.cancel({ ids: [{ id: job.id }] }, WHY)).changes, [
        { id: job.id, result: "refused", status },
      ]);
      assert.deepEqual(await jobOf(store, job), before);
    }
  },

  "cancelling again is answered as the first time and changes nothing": async ({ store }) => {
    const job = await insertOne(store);
    await store.cancel({ ids: [{ id: job.id }] }, WHY);
    const before = await jobOf(store, job);
    const other = { reason: "another reason", by: "bob" };
    assert.deepEqual((await store.cancel({ ids: [{ id: job.id }] }, other)).changes, [
      { id: job.id, result: "done", status: "cancelled" },
    ]);
    assert.deepEqual(await jobOf(store, job), before);
  },

  "asking again changes nothing": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    for (let time = 0; time < 2; time++) {
      const { changes } = await store.cancel({ ids: [{ id: job.id }] }, WHY);
      assert.equal(changes[0]?.result, "asked");
    }
    await settle(store, leased, succeed());
    assert.equal((await jobOf(store, job)).status, "succeeded");
  },

  "results come in the order of the ids, unknown ones as missing": async ({ store }) => {
    const running = await insertOne(store);
    await takeOne(store);
    const waiting = await insertOne(store);
    const unknown = newJob();
    const done = await adoptOne(store, { status: "dead", finishedAt: 1_000_400 });
    const refs = [unknown, waiting, done, running].map(({ id }) => ({ id }));
    const { changes } = await store.cancel({ ids: refs }, WHY);
    assert.deepEqual(changes, [
      { id: unknown.id, result: "missing", status: null },
      { id: waiting.id, result: "done", status: "cancelled" },
      { id: done.id, result: "refused", status: "dead" },
      { id: running.id, result: "asked", status: "processing" },
    ]);
  },

  "a removed job is missing": async ({ store }) => {
    const job = await insertOne(store);
    await store.remove({ ids: [{ id: job.id }] }, WHY);
    assert.deepEqual((await store.cancel({ ids: [{ id: job.id }] }, WHY)).changes, [
      { id: job.id, result: "missing", status: null },
    ]);
  },

  "all jobs that a filter matched are cancelled, in steps": async ({ store, place }) => {
    const wanted = await insertSome(store, 25, { type: "old" });
    const others = await insertSome(store, 5, { type: "new" });
    await place.advance(TICK_MS);
    const changes = await inSteps((target) => store.cancel(target, WHY), {
      filter: { queue: QUEUE, type: "old", status: ["queued"] },
      frozenAt: await store.now(),
      limit: 10,
    });
    assert.deepEqual(sortedIdsOf(changes), sortedIdsOf(wanted));
    assert.deepEqual(idsOf(await takeExactly(store, 5)), idsOf(others));
    await takeNothing(store);
  },

  "a frozen filter leaves later jobs alone": async ({ store, place }) => {
    const early = await insertSome(store, 12);
    await place.advance(TICK_MS);
    const frozenAt = await store.now();
    await place.advance(TICK_MS);
    const late = await insertSome(store, 3);
    const changes = await inSteps((target) => store.cancel(target, WHY), {
      filter: { status: ["queued"] },
      frozenAt,
      limit: 5,
    });
    assert.deepEqual(sortedIdsOf(changes), sortedIdsOf(early));
    assert.deepEqual(idsOf(await takeExactly(store, 3)), idsOf(late));
  },

  "a frozen filter asks the running jobs that it matches": async ({ store, place }) => {
    await insertSome(store, 2, { delayMs: 0 });
    const leased = await takeExactly(store, 1);
    await insertOne(store, { delayMs: LONG_MS });
    await place.advance(TICK_MS);
    const changes = await inSteps((target) => store.cancel(target, WHY), {
      filter: { queue: QUEUE },
      frozenAt: await store.now(),
      limit: 10,
    });
    const results = changes.map((change) => change.result).toSorted();
    assert.deepEqual(results, ["asked", "done", "done"]);
    assert.equal(changes.find((change) => change.result === "asked")?.id, leased[0]?.id);
  },

  "an id that never was is missing, with or without a queue": async ({ store }) => {
    const [first, second] = [newId(), newId()];
    const { changes } = await store.cancel(
      { ids: [{ id: first }, { id: second, queue: QUEUE }] },
      WHY,
    );
    assert.deepEqual(
      changes.map((change) => change.result),
      ["missing", "missing"],
    );
  },
});
