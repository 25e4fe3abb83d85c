import assert from "node:assert/strict";
import { MAX_PLACE } from "../../core/job.ts";
import { jobOf } from "./looking.ts";
import { adoptOne, idsOf, insertAll, insertOne, insertSome } from "./new-job.ts";
import { newJob, QUEUE, sortedIdsOf } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { release, retry, settle, snooze } from "./settling.ts";
import { leaseRequest, take, takeExactly, takeNothing, takeOne, takeOneByOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

export const lease = chapter("lease", {
  "a leased job carries what its handler needs": async ({ store }) => {
    const job = await insertOne(store, {
      group: "tenant-7",
      type: "invoice.send",
      payload: '{"id":7}',
      priority: 10,
      maxAttempts: 3,
      tags: ["monthly"],
      meta: '{"source":"web"}',
      trace: "00-4bf92f-01",
    });
    const { handle, fence, createdAt, runAt, ...rest } = await takeOne(store);
    assert.deepEqual(rest, {
      id: job.id,
      queue: QUEUE,
      group: "tenant-7",
      type: "invoice.send",
      payload: '{"id":7}',
      priority: 10,
      attempt: 1,
      maxAttempts: 3,
      exhausted: false,
      crashes: 0,
      deferrals: 0,
      checkpoint: null,
      steps: [],
      tags: ["monthly"],
      meta: '{"source":"web"}',
      trace: "00-4bf92f-01",
    });
    const stored = await jobOf(store, job);
    assert.deepEqual([fence, createdAt, runAt], [stored.fence, stored.createdAt, stored.runAt]);
    assert.equal(typeof handle, "string");
  },

  "a leased job shows who has it, since when and until when": async ({ store }) => {
    const job = await insertOne(store);
    const before = await store.now();
    await takeOne(store, { worker: "host:7:ab12", leaseMs: LONG_MS });
    const after = await store.now();
    const { status, worker, attempts, leasedAt, startedAt, leaseUntil } = await jobOf(store, job);
    assert.deepEqual([status, worker, attempts], ["processing", "host:7:ab12", 1]);
    assert.ok(leasedAt !== null && startedAt !== null && leaseUntil !== null);
    assert.ok(before <= leasedAt && leasedAt <= after);
    assert.ok(before <= startedAt && startedAt <= after);
    assert.ok(before + LONG_MS <= leaseUntil && leaseUntil <= after + LONG_MS);
  },

  "a job has at most one holder": async ({ store, another }) => {
    await insertOne(store);
    await takeOne(store, { worker: "worker-1" });
    await takeNothing(store, { worker: "worker-1" });
    await takeNothing(await another(), { worker: "worker-2" });
  },

  "a lease that ran out is nobody else's before it is reaped": async ({ store, place }) => {
    await insertOne(store);
    await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await takeNothing(store, { worker: "worker-2" });
  },

  "a fence is at least the store's clock in microseconds": async ({ store }) => {
    await insertOne(store);
    const before = await store.now();
    const { fence } = await takeOne(store);
    assert.ok(fence >= before * 1_000);
    assert.ok(Number.isSafeInteger(fence));
  },

  "the fence of a job grows with every lease": async ({ store, place }) => {
    await insertOne(store);
    let last = 0;
    for (const outcome of [retry(), snooze(), release(), null, retry()]) {
      const leased = await takeOne(store, { leaseMs: outcome === null ? SHORT_MS : LONG_MS });
      assert.ok(leased.fence > last);
      last = leased.fence;
      if (outcome !== null) await settle(store, leased, outcome);
      else {
        await place.advance(PASSED_MS);
        await store.reap({ limit: 1 });
      }
    }
  },

  "never more is handed out than was asked for": async ({ store }) => {
    await insertSome(store, 10);
    const { jobs } = await store.lease(leaseRequest(3));
    assert.ok(jobs.length <= 3);
    const some = await store.lease({ ...leaseRequest(10), queues: [{ queue: QUEUE, limit: 2 }] });
    assert.ok(some.jobs.length <= 2);
  },

  "a limit of nothing hands out nothing": async ({ store }) => {
    await insertOne(store);
    assert.deepEqual((await store.lease(leaseRequest(0))).jobs, []);
    assert.deepEqual((await store.lease({ ...leaseRequest(5), queues: [] })).jobs, []);
    assert.equal((await take(store, 1)).length, 1);
  },

  "a queue that nobody has heard of is empty": async ({ store }) => {
    assert.deepEqual(await store.lease(leaseRequest(1, { queue: "unheard-of" })), {
      jobs: [],
      nextInMs: null,
    });
  },

  "only the named queues are looked into": async ({ store }) => {
    await insertOne(store, { queue: "sms" });
    await takeNothing(store);
  },

  "jobs of one priority are handed out first in, first out": async ({ store }) => {
    const jobs = await insertSome(store, 6);
    assert.deepEqual(idsOf(await takeOneByOne(store, 6)), idsOf(jobs));
  },

  "a lower number goes first, whenever it came": async ({ store }) => {
    const late = await insertOne(store, { priority: 8191 });
    const [first, second] = await insertSome(store, 2, { priority: 100 });
    const urgent = await insertOne(store, { priority: 0 });
    const expected = [urgent, first, second, late].map((job) => job?.id);
    assert.deepEqual(idsOf(await takeOneByOne(store, 4)), expected);
  },

  "places of a queue that ages go far beyond any priority, and come back as they were": async ({
    store,
  }) => {
    const places = [MAX_PLACE, 65_536, 8_191, 65_535, 1_000_000, 70_000];
    const jobs = places.map((priority) => newJob({ priority, tags: ["aged"] }));
    await insertAll(store, jobs);
    const delayed = await insertOne(store, { priority: 200_000, delayMs: LONG_MS });
    assert.equal((await jobOf(store, delayed)).priority, 200_000);
    const adopted = await adoptOne(store, { priority: 131_073 });
    for (const { id, priority } of jobs)
      assert.equal((await jobOf(store, { id })).priority, priority);
    const expected = [...jobs, adopted].toSorted((a, b) => a.priority - b.priority);
    for (const { id, priority } of expected) {
      const leased = await takeOne(store);
      assert.deepEqual([leased.id, leased.priority], [id, priority]);
      await settle(store, leased, retry());
      const again = await takeOne(store);
      assert.deepEqual([again.id, again.priority], [id, priority]);
    }
  },

  "one call hands out a line in its order": async ({ store }) => {
    const jobs = [3, 1, 2, 1, 3].map((priority) => newJob({ priority }));
    await insertAll(store, jobs);
    const { jobs: leased } = await store.lease(leaseRequest(5));
    const expected = jobs.toSorted((a, b) => a.priority - b.priority);
    assert.deepEqual(idsOf(leased), idsOf(expected).slice(0, leased.length));
  },

  "a job that became due takes the place of its age": async ({ store, place }) => {
    const delayed = await insertOne(store, { delayMs: SHORT_MS });
    const ready = await insertSome(store, 2);
    await place.advance(PASSED_MS);
    assert.deepEqual(idsOf(await takeOneByOne(store, 3)), idsOf([delayed, ...ready]));
  },

  "due jobs of several priorities are handed out by priority": async ({ store, place }) => {
    const low = await insertOne(store, { delayMs: SHORT_MS / 2, priority: 200 });
    const high = await insertOne(store, { delayMs: SHORT_MS, priority: 10 });
    await place.advance(PASSED_MS);
    assert.deepEqual(idsOf(await takeOneByOne(store, 2)), [high.id, low.id]);
  },

  "a burst of due jobs is handed out whole": async ({ store, place }) => {
    const jobs = await insertSome(store, 600, { delayMs: SHORT_MS });
    await place.advance(PASSED_MS);
    assert.deepEqual(sortedIdsOf(await takeExactly(store, 600)), sortedIdsOf(jobs));
    await takeNothing(store);
  },

  "many delayed jobs do not hide the ready ones": async ({ store }) => {
    await insertSome(store, 400, { delayMs: LONG_MS, priority: 0 });
    const ready = await insertSome(store, 3, { priority: 8191 });
    assert.deepEqual(idsOf(await takeExactly(store, 3)), idsOf(ready));
  },

  "a lease says to come back at once while more is ready": async ({ store }) => {
    await insertSome(store, 5);
    assert.equal((await store.lease(leaseRequest(2))).nextInMs, 0);
  },

  "a lease says when the next job is due": async ({ store }) => {
    await insertOne(store, { delayMs: LONG_MS });
    await insertOne(store, { delayMs: 2 * LONG_MS });
    const { nextInMs } = await store.lease(leaseRequest(1));
    assert.ok(nextInMs !== null && nextInMs > 0 && nextInMs <= LONG_MS);
  },

  "a lease looks for the next due job in all its queues": async ({ store }) => {
    await insertOne(store, { delayMs: 2 * LONG_MS });
    await insertOne(store, { queue: "sms", delayMs: LONG_MS });
    const { nextInMs } = await store.lease(leaseRequest(1, { queues: [QUEUE, "sms"] }));
    assert.ok(nextInMs !== null && nextInMs > 0 && nextInMs <= LONG_MS);
  },

  "a lease says that nothing is in sight": async ({ store }) => {
    await insertOne(store);
    await takeOne(store);
    assert.deepEqual(await store.lease(leaseRequest(1)), { jobs: [], nextInMs: null });
  },

  "a bound in bytes ends a lease, and more is ready": async ({ store }) => {
    const payload = JSON.stringify("x".repeat(10_000));
    const jobs = await insertSome(store, 6, { payload });
    const { jobs: leased, nextInMs } = await store.lease(leaseRequest(6, { maxBytes: 35_000 }));
    assert.ok(leased.length >= 1 && leased.length <= 4, `${leased.length} jobs of 10 KB`);
    assert.equal(nextInMs, 0);
    assert.deepEqual(idsOf(leased), idsOf(jobs.slice(0, leased.length)));
    const rest = await takeExactly(store, 6 - leased.length, { maxBytes: 35_000 });
    assert.deepEqual(idsOf(rest), idsOf(jobs.slice(leased.length)));
  },

  "a job larger than the bound in bytes is leased alone": async ({ store }) => {
    const payload = JSON.stringify("x".repeat(10_000));
    const jobs = await insertSome(store, 3, { payload });
    for (const job of jobs) {
      const { jobs: leased } = await store.lease(leaseRequest(3, { maxBytes: 100 }));
      assert.deepEqual(idsOf(leased), [job.id]);
    }
    await takeNothing(store, { maxBytes: 100 });
  },

  "a bound in bytes holds over lines and queues together": async ({ store }) => {
    const payload = JSON.stringify("x".repeat(10_000));
    const queues = ["mail", "sms"];
    for (const queue of queues) {
      for (const group of ["a", "b", "c"]) await insertOne(store, { queue, group, payload });
    }
    const { jobs } = await store.lease(leaseRequest(6, { queues, maxBytes: 25_000 }));
    assert.ok(jobs.length >= 1 && jobs.length <= 3, `${jobs.length} jobs of 10 KB`);
    await takeExactly(store, 6 - jobs.length, { queues, maxBytes: 25_000 });
  },

  "small jobs are leased as ever under a bound in bytes": async ({ store }) => {
    const jobs = await insertSome(store, 50);
    const leased = await takeExactly(store, 50, { maxBytes: 8 * 1024 * 1024 });
    assert.deepEqual(sortedIdsOf(leased), sortedIdsOf(jobs));
  },
});
