import assert from "node:assert/strict";
import { countsOf, jobOf } from "./looking.ts";
import { idsOf, insertAll, insertOne, insertSome, key, newJob, newJobs, QUEUE } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { settle, succeed } from "./settling.ts";
import { takeExactly, takeNothing, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

export const insert = chapter("insert", {
  "a new job is stored with everything it was given": async ({ store }) => {
    const job = await insertOne(store, {
      group: "tenant-7",
      type: "invoice.send",
      payload: '{"id":7}',
      priority: 10,
      maxAttempts: 3,
      dedupe: key("invoice:7"),
      tags: ["monthly", "eu"],
      meta: '{"source":"web"}',
      trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    });
    const { createdAt, updatedAt, runAt, ...rest } = await jobOf(store, job);
    assert.deepEqual(rest, {
      id: job.id,
      queue: QUEUE,
      group: "tenant-7",
      type: "invoice.send",
      status: "queued",
      priority: 10,
      payload: '{"id":7}',
      result: null,
      resultDropped: false,
      attempts: 0,
      maxAttempts: 3,
      crashes: 0,
      deferrals: 0,
      fence: rest.fence,
      error: null,
      reason: null,
      by: null,
      progress: null,
      tags: ["monthly", "eu"],
      meta: '{"source":"web"}',
      trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      dedupeKey: "invoice:7",
      keyLifetime: "kept",
      cancelAsked: false,
      startedAt: null,
      finishedAt: null,
      worker: null,
      leasedAt: null,
      leaseUntil: null,
      checkpoint: null,
      steps: [],
      logs: [],
      history: [],
    });
    for (const instant of [createdAt, updatedAt, runAt]) assert.equal(typeof instant, "number");
  },

  "a new job is created and due now, by the store's clock": async ({ store }) => {
    const before = await store.now();
    const job = await insertOne(store);
    const after = await store.now();
    const { createdAt, runAt } = await jobOf(store, job);
    assert.ok(before <= createdAt && createdAt <= after);
    assert.ok(before <= runAt && runAt <= after);
  },

  "a delayed job is due that long after its insert": async ({ store }) => {
    const before = await store.now();
    const job = await insertOne(store, { delayMs: LONG_MS });
    const after = await store.now();
    const { runAt, status } = await jobOf(store, job);
    assert.equal(status, "queued");
    assert.ok(before + LONG_MS <= runAt && runAt <= after + LONG_MS);
    await takeNothing(store);
  },

  "a job with a time of its own is due at that instant, whatever its delay": async ({ store }) => {
    const runAt = (await store.now()) + LONG_MS;
    const job = await insertOne(store, { runAt, delayMs: 1 });
    assert.equal((await jobOf(store, job)).runAt, runAt);
    await takeNothing(store);
  },

  "a job whose time has passed before its insert is ready at once": async ({ store }) => {
    const job = await insertOne(store, { runAt: (await store.now()) - LONG_MS, delayMs: LONG_MS });
    assert.equal((await takeOne(store)).id, job.id);
  },

  "a delayed job can be leased once its time has come": async ({ store, place }) => {
    const job = await insertOne(store, { delayMs: SHORT_MS });
    await place.advance(PASSED_MS);
    assert.equal((await takeOne(store)).id, job.id);
  },

  "a repeated insert is a duplicate of itself": async ({ store }) => {
    const job = await insertOne(store);
    const expected = [{ outcome: "duplicate", id: job.id, status: "queued" }];
    assert.deepEqual(await store.insert([job]), expected);
    assert.equal((await takeExactly(store, 1)).length, 1);
    await takeNothing(store);
  },

  "a repeated insert leaves the stored job as it is": async ({ store }) => {
    const job = await insertOne(store, { payload: '"first"' });
    const before = await jobOf(store, job);
    await store.insert([{ ...job, payload: '"second"', priority: 1, delayMs: LONG_MS }]);
    assert.deepEqual(await jobOf(store, job), before);
  },

  "an id given twice in one call is stored once": async ({ store }) => {
    const job = newJob();
    assert.deepEqual(await store.insert([job, job]), [
      { outcome: "added", id: job.id },
      { outcome: "duplicate", id: job.id, status: "queued" },
    ]);
    assert.equal((await countsOf(store)).ready, 1);
  },

  "a duplicate is told the status its job has now": async ({ store }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    assert.deepEqual(await store.insert([job]), [
      { outcome: "duplicate", id: job.id, status: "processing" },
    ]);
    await settle(store, leased, succeed());
    assert.deepEqual(await store.insert([job]), [
      { outcome: "duplicate", id: job.id, status: "succeeded" },
    ]);
  },

  "a repeated id is a duplicate after its job finished and was not kept": async ({ store }) => {
    const job = await insertOne(store);
    await settle(store, await takeOne(store), succeed(), { discard: true });
    assert.deepEqual(await store.insert([job]), [
      { outcome: "duplicate", id: job.id, status: "pruned" },
    ]);
    await takeNothing(store);
  },

  "two hundred jobs go in with one call, in their order": async ({ store }) => {
    const jobs = await insertSome(store, 200);
    assert.deepEqual(idsOf(await takeExactly(store, 200)), idsOf(jobs));
  },

  "one call stores jobs of several queues and groups": async ({ store }) => {
    const [mail, grouped, sms] = [newJob(), newJob({ group: "a" }), newJob({ queue: "sms" })];
    await insertAll(store, [mail, grouped, sms]);
    assert.deepEqual(new Set(idsOf(await takeExactly(store, 2))), new Set([mail.id, grouped.id]));
    assert.equal((await takeOne(store, { queue: "sms" })).id, sms.id);
  },

  "an insert beyond maxWaiting is answered full": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 2 }]);
    await insertSome(store, 2);
    assert.deepEqual(await store.insert([newJob()]), [{ outcome: "full", maxWaiting: 2 }]);
    assert.equal((await countsOf(store)).ready, 2);
  },

  "delayed jobs count towards maxWaiting": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 2 }]);
    await insertSome(store, 2, { delayMs: LONG_MS });
    assert.deepEqual(await store.insert([newJob()]), [{ outcome: "full", maxWaiting: 2 }]);
  },

  "maxWaiting counts between the items of one call": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 2 }]);
    const results = await store.insert(newJobs(4));
    assert.deepEqual(
      results.map((result) => result.outcome),
      ["added", "added", "full", "full"],
    );
  },

  "maxWaiting is of one queue and hinders no other": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 1 }]);
    const results = await store.insert([newJob(), newJob(), newJob({ queue: "sms" })]);
    assert.deepEqual(
      results.map((result) => result.outcome),
      ["added", "full", "added"],
    );
  },

  "a duplicate is told so even when the queue is full": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 1 }]);
    const job = await insertOne(store, { dedupe: key("k") });
    const again = newJob({ dedupe: key("k") });
    const other = newJob({ dedupe: key("k", "kept", "hash-2") });
    assert.deepEqual(await store.insert([job, again, other]), [
      { outcome: "duplicate", id: job.id, status: "queued" },
      { outcome: "duplicate", id: job.id, status: "queued" },
      { outcome: "conflict", id: job.id, status: "queued" },
    ]);
  },

  "a job that was refused because of a full queue leaves nothing behind": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 1 }]);
    await insertOne(store);
    const refused = newJob({ dedupe: key("k") });
    assert.deepEqual(await store.insert([refused]), [{ outcome: "full", maxWaiting: 1 }]);
    assert.deepEqual(await store.get([{ id: refused.id }]), [null]);
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: null }]);
    await insertAll(store, [refused]);
  },

  "work that is already promised goes into a full queue": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 1 }]);
    await insertOne(store);
    const promised = newJob();
    assert.deepEqual(await store.insert([promised], { evenIfFull: true }), [
      { outcome: "added", id: promised.id },
    ]);
  },

  "a leased job makes room in a full queue": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 1 }]);
    await insertOne(store);
    await takeOne(store);
    await insertOne(store);
  },
});
