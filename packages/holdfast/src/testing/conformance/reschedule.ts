import assert from "node:assert/strict";
import { inSteps } from "./in-steps.ts";
import { FINISHED, jobOf } from "./looking.ts";
import { adoptOne, idsOf, insertOne, insertSome, newId, QUEUE, sortedIdsOf } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { renew, retry, settle } from "./settling.ts";
import { takeExactly, takeNothing, takeOne, takeOneByOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS, TICK_MS } from "./times.ts";

const WHY = { reason: "run it tonight", by: "ann" };
const NOW = { delayMs: 0, runAt: null };
const LATER = { delayMs: LONG_MS, runAt: null };

export const reschedule = chapter("reschedule", {
  "a ready job can be put off": async ({ store }) => {
    const job = await insertOne(store);
    const before = await store.now();
    const { changes } = await store.reschedule({ ids: [{ id: job.id }] }, LATER, WHY);
    const after = await store.now();
    assert.deepEqual(changes, [{ id: job.id, result: "done", status: "queued" }]);
    const { runAt } = await jobOf(store, job);
    assert.ok(before + LONG_MS <= runAt && runAt <= after + LONG_MS);
    await takeNothing(store);
  },

  "a job that was put off is due at its new time": async ({ store, place }) => {
    const job = await insertOne(store);
    const due = { delayMs: SHORT_MS, runAt: null };
    await store.reschedule({ ids: [{ id: job.id }] }, due, WHY);
    await place.advance(PASSED_MS);
    assert.equal((await takeOne(store)).id, job.id);
  },

  "a delayed job can be run now": async ({ store }) => {
    const job = await insertOne(store, { delayMs: LONG_MS });
    await store.reschedule({ ids: [{ id: job.id }] }, NOW, WHY);
    assert.equal((await takeOne(store)).id, job.id);
  },

  "a retry that waits can be run now, with its attempts unchanged": async ({ store }) => {
    const job = await insertOne(store);
    await settle(store, await takeOne(store), retry(LONG_MS));
    await store.reschedule({ ids: [{ id: job.id }] }, NOW, WHY);
    assert.equal((await takeOne(store)).attempt, 2);
  },

  "a job may be given a time of its own": async ({ store }) => {
    const job = await insertOne(store);
    const runAt = (await store.now()) + LONG_MS;
    await store.reschedule({ ids: [{ id: job.id }] }, { delayMs: 0, runAt }, WHY);
    assert.equal((await jobOf(store, job)).runAt, runAt);
  },

  "a rescheduled job keeps its place in line": async ({ store, place }) => {
    const jobs = await insertSome(store, 3);
    const due = { delayMs: SHORT_MS, runAt: null };
    await store.reschedule({ ids: [{ id: jobs[0]?.id ?? "" }] }, due, WHY);
    await place.advance(PASSED_MS);
    assert.deepEqual(idsOf(await takeOneByOne(store, 3)), idsOf(jobs));
  },

  "running and finished jobs refuse, unknown ones are missing": async ({ store }) => {
    await insertOne(store);
    const running = await takeOne(store);
    const finished = await Promise.all(
      FINISHED.map((status) => adoptOne(store, { status, finishedAt: 1_000_400 })),
    );
    const refs = [...idsOf([running, ...finished]), newId()].map((id) => ({ id }));
    const { changes } = await store.reschedule({ ids: refs }, LATER, WHY);
    assert.deepEqual(
      changes.map((change) => change.result),
      ["refused", "refused", "refused", "refused", "missing"],
    );
    assert.equal(await renew(store, running), "kept");
  },

  "all delayed jobs of a filter are run now, in steps": async ({ store, place }) => {
    const delayed = await insertSome(store, 12, { delayMs: LONG_MS, tags: ["campaign"] });
    await insertSome(store, 3, { delayMs: LONG_MS });
    await place.advance(TICK_MS);
    const changes = await inSteps((target) => store.reschedule(target, NOW, WHY), {
      filter: { queue: QUEUE, tag: "campaign", status: ["queued"] },
      frozenAt: await store.now(),
      limit: 5,
    });
    assert.deepEqual(sortedIdsOf(changes), sortedIdsOf(delayed));
    assert.deepEqual(sortedIdsOf(await takeExactly(store, 12)), sortedIdsOf(delayed));
    await takeNothing(store);
  },
});
