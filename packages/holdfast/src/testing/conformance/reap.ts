import assert from "node:assert/strict";
import type { LeasedJob, Store } from "../../core/store.ts";
import { jobOf } from "./looking.ts";
import { idsOf, insertOne, insertSome, QUEUE, sortedIdsOf } from "./new-job.ts";
import type { StorePlace } from "./scenario.ts";
import { chapter } from "./scenario.ts";
import { leaseRef, release, renew, settle, settleLost, start, succeed } from "./settling.ts";
import { takeExactly, takeNothing, takeOne, takeOneByOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

/** Leases and starts so many, and lets their leases run out. */
async function runOut(store: Store, place: StorePlace, count: number): Promise<LeasedJob[]> {
  const leased = await takeExactly(store, count, { leaseMs: SHORT_MS });
  await start(store, leased, SHORT_MS);
  await place.advance(PASSED_MS);
  return leased;
}

export const reap = chapter("reap", {
  "an expired lease is put back, with its crash counted": async ({ store, place }) => {
    const job = await insertOne(store, { group: "tenant-7", type: "invoice.send" });
    const leased = await takeOne(store, { worker: "host:7:ab12", leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    assert.deepEqual(await store.reap({ limit: 10 }), [
      {
        id: job.id,
        queue: QUEUE,
        group: "tenant-7",
        type: "invoice.send",
        worker: "host:7:ab12",
        attempts: 1,
        crashes: 1,
        charged: true,
        status: "queued",
      },
    ]);
    const stored = await jobOf(store, job);
    assert.deepEqual(
      [stored.status, stored.attempts, stored.crashes, stored.leasedAt, stored.leaseUntil],
      ["queued", 1, 1, null, null],
    );
    assert.ok(stored.fence > leased.fence, "the fence moves on");
  },

  "a lease that has not run out is left alone": async ({ store }) => {
    await insertSome(store, 3);
    await takeExactly(store, 3);
    assert.deepEqual(await store.reap({ limit: 10 }), []);
  },

  "a lease that a renewal made shorter runs out at its new end": async ({ store, place }) => {
    await insertOne(store);
    const leased = await takeOne(store, { leaseMs: LONG_MS });
    assert.deepEqual(await store.reap({ limit: 10 }), []);
    await renew(store, leased, undefined, SHORT_MS);
    await place.advance(PASSED_MS);
    assert.equal((await store.reap({ limit: 10 })).length, 1);
  },

  "waiting, delayed and finished jobs are not reaped": async ({ store, place }) => {
    await insertOne(store);
    await settle(store, await takeOne(store, { leaseMs: SHORT_MS }), succeed());
    await insertOne(store);
    await insertOne(store, { delayMs: SHORT_MS });
    await place.advance(PASSED_MS);
    assert.deepEqual(await store.reap({ limit: 10 }), []);
  },

  "a crash is reaped once": async ({ store, place }) => {
    const job = await insertOne(store);
    await runOut(store, place, 1);
    assert.equal((await store.reap({ limit: 10 })).length, 1);
    assert.deepEqual(await store.reap({ limit: 10 }), []);
    assert.equal((await jobOf(store, job)).crashes, 1);
  },

  "a reaped job goes back to its old place in line": async ({ store, place }) => {
    const jobs = await insertSome(store, 3);
    await runOut(store, place, 1);
    await store.reap({ limit: 1 });
    assert.deepEqual(idsOf(await takeOneByOne(store, 3)), idsOf(jobs));
  },

  "a crash is recorded among the attempts": async ({ store, place }) => {
    const job = await insertOne(store);
    const [leased] = await runOut(store, place, 1);
    assert.ok(leased);
    await store.reap({ limit: 1 });
    const [record] = (await jobOf(store, job)).history;
    assert.ok(record);
    assert.deepEqual(
      [record.attempt, record.fence, record.worker, record.outcome],
      [1, leased.fence, "worker-1", "crashed"],
    );
    assert.ok(record.startedAt <= record.endedAt);
  },

  "a crashed job is handed out again, with its crashes": async ({ store, place }) => {
    await insertOne(store);
    for (let crashes = 0; crashes < 3; crashes++) {
      const [leased] = await runOut(store, place, 1);
      assert.deepEqual([leased?.attempt, leased?.crashes], [crashes + 1, crashes]);
      await store.reap({ limit: 1 });
    }
  },

  "reaping kills nothing, however often a job has crashed": async ({ store, place }) => {
    const job = await insertOne(store, { maxAttempts: 2 });
    for (let crash = 0; crash < 4; crash++) {
      await runOut(store, place, 1);
      await store.reap({ limit: 1 });
    }
    const { status, crashes, attempts } = await jobOf(store, job);
    assert.deepEqual([status, crashes, attempts], ["queued", 4, 2]);
  },

  "a job that crashed before is not charged until its holder starts it": async (scene) => {
    const { store, place } = scene;
    const job = await insertOne(store);
    await runOut(store, place, 1);
    await store.reap({ limit: 1 });
    const leased = await takeOne(store, { leaseMs: SHORT_MS });
    assert.deepEqual([leased.attempt, leased.crashes], [2, 1]);
    await place.advance(PASSED_MS);
    const [reaped] = await store.reap({ limit: 1 });
    assert.deepEqual([reaped?.charged, reaped?.attempts, reaped?.crashes], [false, 1, 1]);
    const stored = await jobOf(store, job);
    assert.deepEqual([stored.status, stored.attempts, stored.crashes], ["queued", 1, 1]);
    assert.deepEqual(stored.history.length, 1, "what did not start is no attempt");
    assert.ok(stored.fence > leased.fence, "the fence moves on");
    await settleLost(store, leased, succeed());
  },

  "a job that crashed before is charged once its holder has started it": async (scene) => {
    const { store, place } = scene;
    const job = await insertOne(store);
    for (let crash = 0; crash < 2; crash++) {
      await runOut(store, place, 1);
      const [reaped] = await store.reap({ limit: 1 });
      assert.equal(reaped?.charged, true);
    }
    const { attempts, crashes, history } = await jobOf(store, job);
    assert.deepEqual([attempts, crashes, history.length], [2, 2, 2]);
  },

  "what one holder started the next one has not": async ({ store, place }) => {
    await insertOne(store);
    await runOut(store, place, 1);
    await store.reap({ limit: 1 });
    const [second] = await runOut(store, place, 1);
    assert.ok(second);
    await settle(store, second, release());
    await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    const [reaped] = await store.reap({ limit: 1 });
    assert.deepEqual([reaped?.charged, reaped?.crashes], [false, 1]);
  },

  "a start counts also if it comes with updates that are no news": async ({ store, place }) => {
    await insertOne(store);
    await runOut(store, place, 1);
    await store.reap({ limit: 1 });
    const leased = await takeOne(store);
    const updates = { logs: ["one"] };
    await store.renew([{ ...leaseRef(leased), updates, order: 2 }], LONG_MS);
    await store.renew([{ ...leaseRef(leased), updates, order: 1, starts: true }], SHORT_MS);
    await place.advance(PASSED_MS);
    assert.equal((await store.reap({ limit: 1 }))[0]?.charged, true);
  },

  "a renewal between the end of a lease and its reaping wins": async ({ store, place }) => {
    await insertOne(store);
    const [leased] = await runOut(store, place, 1);
    assert.ok(leased);
    assert.equal(await renew(store, leased), "kept");
    assert.deepEqual(await store.reap({ limit: 10 }), []);
    await settle(store, leased, succeed());
  },

  "a renewed lease hides no other that ran out": async ({ store, place }) => {
    const jobs = await insertSome(store, 4);
    const [first, second] = await takeExactly(store, 4, { leaseMs: SHORT_MS });
    assert.ok(first && second);
    await renew(store, first);
    await renew(store, second);
    await place.advance(PASSED_MS);
    const reaped = await store.reap({ limit: 10 });
    assert.deepEqual(sortedIdsOf(reaped), sortedIdsOf(jobs.slice(2)));
  },

  "a settle between the end of a lease and its reaping wins": async ({ store, place }) => {
    const job = await insertOne(store);
    const [leased] = await runOut(store, place, 1);
    assert.ok(leased);
    await settle(store, leased, succeed());
    assert.deepEqual(await store.reap({ limit: 10 }), []);
    assert.equal((await jobOf(store, job)).status, "succeeded");
  },

  "the old holder of a reaped job is told that it lost": async ({ store, place }) => {
    await insertOne(store);
    const [leased] = await runOut(store, place, 1);
    assert.ok(leased);
    await store.reap({ limit: 1 });
    assert.equal(await renew(store, leased), "lost");
    await settleLost(store, leased, succeed());
  },

  "at most so many are reaped, and the rest the next time": async ({ store, place }) => {
    const jobs = await insertSome(store, 7);
    await runOut(store, place, 7);
    const reaped: string[] = [];
    for (let call = 0; call < 10 && reaped.length < 7; call++) {
      const some = await store.reap({ limit: 3 });
      assert.ok(some.length <= 3);
      reaped.push(...idsOf(some));
    }
    assert.deepEqual(reaped.toSorted(), sortedIdsOf(jobs));
  },

  "jobs of all queues and workers are reaped": async ({ store, place, another }) => {
    await insertOne(store);
    await insertOne(store, { queue: "sms" });
    await takeOne(store, { worker: "worker-1", leaseMs: SHORT_MS });
    await takeOne(store, { worker: "worker-2", queue: "sms", leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    const other = await another();
    const reaped = [...(await other.reap({ limit: 10 })), ...(await other.reap({ limit: 10 }))];
    assert.deepEqual(reaped.map((job) => job.worker).toSorted(), ["worker-1", "worker-2"]);
  },

  "a reaped job can be leased by anybody": async ({ store, place, another }) => {
    const job = await insertOne(store);
    await runOut(store, place, 1);
    await store.reap({ limit: 1 });
    const leased = await takeOne(await another(), { worker: "worker-2" });
    assert.equal(leased.id, job.id);
    await takeNothing(store);
  },
});
