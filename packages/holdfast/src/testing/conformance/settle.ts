import assert from "node:assert/strict";
import { HISTORY_LENGTH } from "../../core/job.ts";
import { assertPruned, jobOf } from "./looking.ts";
import { idsOf, insertOne, insertSome, QUEUE } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import {
  cancelled,
  defer,
  die,
  FAILURE,
  release,
  retry,
  settle as settleOne,
  settlement,
  snooze,
  succeed,
} from "./settling.ts";
import { takeExactly, takeNothing, takeOne, takeOneByOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

export const settle = chapter("settle", {
  "a success keeps its result": async ({ store }) => {
    const job = await insertOne(store);
    const before = await store.now();
    await settleOne(store, await takeOne(store), succeed('{"messageId":"m-1"}'));
    const after = await store.now();
    const stored = await jobOf(store, job);
    assert.deepEqual(
      [stored.status, stored.result, stored.resultDropped, stored.error, stored.reason],
      ["succeeded", '{"messageId":"m-1"}', false, null, null],
    );
    const { finishedAt } = stored;
    assert.ok(finishedAt !== null && before <= finishedAt && finishedAt <= after);
  },

  "a result that was not stored leaves a note": async ({ store }) => {
    const job = await insertOne(store);
    const outcome = { kind: "succeed", result: null, resultDropped: true } as const;
    await settleOne(store, await takeOne(store), outcome);
    const { status, result, resultDropped } = await jobOf(store, job);
    assert.deepEqual([status, result, resultDropped], ["succeeded", null, true]);
  },

  "a finished job holds no lease and is never handed out again": async ({ store, place }) => {
    for (const outcome of [succeed(), die(), cancelled("no longer needed")]) {
      const job = await insertOne(store);
      await settleOne(store, await takeOne(store, { leaseMs: SHORT_MS }), outcome);
      const { leasedAt, leaseUntil } = await jobOf(store, job);
      assert.deepEqual([leasedAt, leaseUntil], [null, null]);
    }
    await place.advance(PASSED_MS);
    assert.deepEqual(await store.reap({ limit: 10 }), []);
    await takeNothing(store);
  },

  "a retry waits as long as it was told": async ({ store }) => {
    const job = await insertOne(store);
    const before = await store.now();
    await settleOne(store, await takeOne(store), retry(LONG_MS));
    const after = await store.now();
    const { status, runAt, error, finishedAt, leaseUntil } = await jobOf(store, job);
    assert.deepEqual([status, error, finishedAt, leaseUntil], ["queued", FAILURE, null, null]);
    assert.ok(before + LONG_MS <= runAt && runAt <= after + LONG_MS);
    await takeNothing(store);
  },

  "a retry without delay is ready at once": async ({ store }) => {
    const job = await insertOne(store);
    await settleOne(store, await takeOne(store), retry(0));
    assert.equal((await takeOne(store)).id, job.id);
  },

  "a retried job is due again after its delay": async ({ store, place }) => {
    const job = await insertOne(store);
    await settleOne(store, await takeOne(store), retry(SHORT_MS));
    await place.advance(PASSED_MS);
    assert.equal((await takeOne(store)).id, job.id);
  },

  "snoozed and released jobs wait as long as they were told": async ({ store, place }) => {
    for (const outcome of [snooze(LONG_MS), release(LONG_MS)]) {
      await insertOne(store);
      await settleOne(store, await takeOne(store), outcome);
    }
    await takeNothing(store);
    const job = await insertOne(store);
    await settleOne(store, await takeOne(store), snooze(SHORT_MS));
    await place.advance(PASSED_MS);
    assert.equal((await takeOne(store)).id, job.id);
  },

  "a job that comes back takes its old place in line": async ({ store }) => {
    const jobs = await insertSome(store, 4);
    for (const outcome of [retry(), snooze(), release(), defer()]) {
      const leased = await takeOne(store);
      assert.equal(leased.id, jobs[0]?.id);
      await settleOne(store, leased, outcome);
    }
    assert.deepEqual(idsOf(await takeOneByOne(store, 4)), idsOf(jobs));
  },

  "a death keeps its reason and failure": async ({ store }) => {
    const job = await insertOne(store);
    await settleOne(store, await takeOne(store), die("validation"));
    const { status, reason, error, finishedAt } = await jobOf(store, job);
    assert.deepEqual([status, reason, error], ["dead", "validation", FAILURE]);
    assert.ok(finishedAt !== null);
  },

  "a cancellation by the handler keeps its reason": async ({ store }) => {
    const job = await insertOne(store);
    await settleOne(store, await takeOne(store), cancelled("no longer needed"));
    const { status, reason, finishedAt } = await jobOf(store, job);
    assert.deepEqual([status, reason], ["cancelled", "no longer needed"]);
    assert.ok(finishedAt !== null);
  },

  "a success clears the error of an earlier attempt": async ({ store }) => {
    const job = await insertOne(store);
    await settleOne(store, await takeOne(store), retry());
    await settleOne(store, await takeOne(store), succeed());
    assert.equal((await jobOf(store, job)).error, null);
  },

  "snoozing and releasing leave the error of the last failed attempt": async ({ store }) => {
    const job = await insertOne(store);
    for (const outcome of [retry(), snooze(), release()]) {
      await settleOne(store, await takeOne(store), outcome);
      assert.deepEqual((await jobOf(store, job)).error, FAILURE);
    }
  },

  "a failed attempt is recorded": async ({ store }) => {
    const job = await insertOne(store);
    const before = await store.now();
    const leased = await takeOne(store, { worker: "host:7:ab12" });
    await settleOne(store, leased, retry());
    const after = await store.now();
    const [record] = (await jobOf(store, job)).history;
    assert.ok(record);
    const { startedAt, endedAt, ...rest } = record;
    assert.deepEqual(rest, {
      attempt: 1,
      fence: leased.fence,
      worker: "host:7:ab12",
      outcome: "failed",
      category: FAILURE.category,
      message: FAILURE.message,
      stack: FAILURE.stack,
    });
    assert.ok(before <= startedAt && startedAt <= endedAt && endedAt <= after);
  },

  "the last failed attempt of a dead job is recorded too": async ({ store }) => {
    const job = await insertOne(store);
    await settleOne(store, await takeOne(store), retry());
    await settleOne(store, await takeOne(store), die());
    const { history } = await jobOf(store, job);
    assert.deepEqual(
      history.map((record) => [record.attempt, record.outcome]),
      [
        [1, "failed"],
        [2, "failed"],
      ],
    );
  },

  "a success after a failed attempt is recorded, one at the first attempt is not": async ({
    store,
  }) => {
    const [first, second] = [await insertOne(store), await insertOne(store)];
    await settleOne(store, await takeOne(store), succeed());
    await settleOne(store, await takeOne(store), retry());
    await settleOne(store, await takeOne(store), succeed());
    const outcomes = async (job: { readonly id: string }) =>
      (await jobOf(store, job)).history.map((record) => record.outcome);
    assert.deepEqual(await outcomes(first), []);
    assert.deepEqual(await outcomes(second), ["failed", "succeeded"]);
  },

  "a cancelled attempt is recorded": async ({ store }) => {
    const job = await insertOne(store);
    await settleOne(store, await takeOne(store), cancelled("no longer needed"));
    const [record] = (await jobOf(store, job)).history;
    assert.deepEqual([record?.attempt, record?.outcome], [1, "cancelled"]);
  },

  "an attempt that was given back leaves no record": async ({ store }) => {
    const job = await insertOne(store);
    await settleOne(store, await takeOne(store), snooze());
    await settleOne(store, await takeOne(store), release());
    assert.deepEqual((await jobOf(store, job)).history, []);
  },

  "of many attempts the last twenty are recorded, oldest first": async ({ store }) => {
    const job = await insertOne(store, { maxAttempts: 100 });
    const fences: number[] = [];
    for (let attempt = 1; attempt <= HISTORY_LENGTH + 5; attempt++) {
      const leased = await takeOne(store);
      fences.push(leased.fence);
      await settleOne(store, leased, retry());
    }
    const { history } = await jobOf(store, job);
    assert.deepEqual(
      history.map((record) => record.fence),
      fences.slice(-HISTORY_LENGTH),
    );
  },

  "an expired lease that was not reaped can still be settled": async ({ store, place }) => {
    const job = await insertOne(store);
    const leased = await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await settleOne(store, leased, succeed());
    assert.deepEqual(await store.reap({ limit: 10 }), []);
    assert.equal((await jobOf(store, job)).status, "succeeded");
  },

  "a lost item hinders no other, and the results keep the order": async ({ store }) => {
    const jobs = await insertSome(store, 3);
    const [first, second, third] = await takeExactly(store, 3);
    assert.ok(first && second && third);
    const stale = { ...second, fence: second.fence - 1 };
    const results = await store.settle([
      settlement(first, succeed("1")),
      settlement(stale, succeed("2")),
      settlement(third, die()),
    ]);
    assert.deepEqual(results, ["settled", "lost", "settled"]);
    const statuses = await Promise.all(jobs.map((job) => jobOf(store, job)));
    assert.deepEqual(
      statuses.map((job) => job.status),
      ["succeeded", "processing", "dead"],
    );
  },

  "one call settles attempts of several queues": async ({ store }) => {
    const mail = await insertOne(store);
    const sms = await insertOne(store, { queue: "sms" });
    const leased = [await takeOne(store), await takeOne(store, { queue: "sms" })];
    const results = await store.settle(leased.map((job) => settlement(job, succeed())));
    assert.deepEqual(results, ["settled", "settled"]);
    for (const job of [mail, sms]) assert.equal((await jobOf(store, job)).status, "succeeded");
  },

  "two hundred attempts are settled in one call": async ({ store }) => {
    await insertSome(store, 200);
    const leased = await takeExactly(store, 200);
    const results = await store.settle(leased.map((job) => settlement(job, succeed())));
    assert.deepEqual([results.length, new Set(results)], [200, new Set(["settled"])]);
  },

  "a discarded job is gone once it has finished": async ({ store }) => {
    const job = await insertOne(store);
    await settleOne(store, await takeOne(store), succeed(), { discard: true });
    await assertPruned(store, job);
    assert.deepEqual((await store.find({ queue: QUEUE }, { limit: 10 })).jobs, []);
  },

  "a discard waits for the end: a retried job is kept": async ({ store }) => {
    const job = await insertOne(store);
    await settleOne(store, await takeOne(store), retry(), { discard: true });
    assert.equal((await jobOf(store, job)).status, "queued");
    assert.equal((await takeOne(store)).id, job.id);
  },
});
