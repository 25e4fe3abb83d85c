import assert from "node:assert/strict";
import type { AdoptedJob, FinishedStatus } from "../../core/job.ts";
import type { Retention, Store } from "../../core/store.ts";
import { assertCounts, assertPruned, FINISHED, findAll, jobOf } from "./looking.ts";
import {
  adoptAll,
  adoptedJob,
  adoptOne,
  idsOf,
  insertOne,
  key,
  newJob,
  QUEUE,
  sortedIdsOf,
} from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { settle, succeed } from "./settling.ts";
import { takeExactly, takeNothing, takeOne } from "./take.ts";
import { HOUR_MS, LONG_MS, TICK_MS } from "./times.ts";

function policy(overrides: Partial<Retention> = {}): Retention {
  return { queue: QUEUE, status: "succeeded", olderThanMs: HOUR_MS, keep: null, ...overrides };
}

/** Finished jobs of these ages, oldest first. */
async function finished(
  store: Store,
  hoursAgo: readonly number[],
  overrides: { readonly queue?: string; readonly status?: FinishedStatus } = {},
): Promise<AdoptedJob[]> {
  const now = await store.now();
  const jobs = hoursAgo.map((hours) => {
    const at = now - hours * HOUR_MS;
    return adoptedJob({ status: "succeeded", createdAt: at, finishedAt: at, ...overrides });
  });
  await adoptAll(store, jobs);
  return jobs;
}

async function left(store: Store): Promise<string[]> {
  return sortedIdsOf(await findAll(store, {}));
}

export const prune = chapter("prune", {
  "finished jobs past their age are deleted": async ({ store }) => {
    const [old, , young] = await finished(store, [5, 3, 0.1]);
    assert.ok(old && young);
    assert.equal(await store.prune([policy()], 100), 2);
    assert.deepEqual(await left(store), [young.id]);
    await assertPruned(store, old);
  },

  "a policy is for one status": async ({ store }) => {
    const jobs = await Promise.all(
      FINISHED.map(async (status) => (await finished(store, [5], { status }))[0]),
    );
    assert.equal(await store.prune([policy({ status: "dead" })], 100), 1);
    const rest = await findAll(store, {});
    assert.equal(rest.length, jobs.length - 1);
    assert.ok(rest.every((job) => job.status !== "dead"));
  },

  "a policy is for its own queue": async ({ store }) => {
    await finished(store, [5]);
    const others = await finished(store, [5], { queue: "sms" });
    assert.equal(await store.prune([policy()], 100), 1);
    assert.deepEqual(await left(store), idsOf(others));
  },

  "a policy without a queue is for the queues that have none of their own": async ({ store }) => {
    const own = await finished(store, [5], { queue: "slow" });
    await finished(store, [5], { queue: "quick" });
    const policies = [
      policy({ queue: null }),
      policy({ queue: "slow", olderThanMs: 24 * HOUR_MS }),
    ];
    assert.equal(await store.prune(policies, 100), 1);
    assert.deepEqual(await left(store), idsOf(own));
  },

  "a queue's own policy for one status leaves the default for the others": async ({ store }) => {
    const kept = await finished(store, [5], { status: "dead" });
    await finished(store, [5], { status: "succeeded" });
    const policies = [
      policy({ queue: null, status: "succeeded" }),
      policy({ queue: null, status: "dead" }),
      policy({ queue: QUEUE, status: "dead", olderThanMs: null }),
    ];
    assert.equal(await store.prune(policies, 100), 1);
    assert.deepEqual(await left(store), idsOf(kept));
  },

  "of many the newest are kept": async ({ store }) => {
    const jobs = await finished(store, [5, 4, 3, 2, 1]);
    assert.equal(await store.prune([policy({ olderThanMs: null, keep: 2 })], 100), 3);
    assert.deepEqual(await left(store), sortedIdsOf(jobs.slice(3)));
  },

  "age and number each bound for themselves": async ({ store }) => {
    const jobs = await finished(store, [5, 0.4, 0.3, 0.2]);
    assert.equal(await store.prune([policy({ keep: 2 })], 100), 2);
    assert.deepEqual(await left(store), sortedIdsOf(jobs.slice(2)));
  },

  "no bound deletes nothing": async ({ store }) => {
    await finished(store, [5_000]);
    assert.equal(await store.prune([policy({ olderThanMs: null, keep: null })], 100), 0);
    assert.equal(await store.prune([], 100), 0);
    assert.equal((await left(store)).length, 1);
  },

  "at most so many are deleted, the oldest first": async ({ store }) => {
    const jobs = await finished(store, [9, 8, 7, 6, 5]);
    const first = await store.prune([policy()], 2);
    assert.ok(first > 0 && first <= 2);
    assert.deepEqual(await left(store), sortedIdsOf(jobs.slice(first)));
    for (let call = 0; call < 10 && (await store.prune([policy()], 2)) > 0; call++);
    assert.deepEqual(await left(store), []);
  },

  "work that has not finished is never deleted, however old": async ({ store, place }) => {
    const waiting = await adoptOne(store, { createdAt: 1, runAt: 1 });
    const running = await adoptOne(store, { createdAt: 1, runAt: 1, priority: 0 });
    await takeOne(store);
    const delayed = await insertOne(store, { delayMs: LONG_MS });
    await place.advance(TICK_MS);
    const policies = FINISHED.map((status) =>
      policy({ queue: null, status, olderThanMs: 0, keep: 0 }),
    );
    assert.equal(await store.prune(policies, 100), 0);
    assert.deepEqual(await left(store), sortedIdsOf([waiting, running, delayed]));
  },

  "a job's age is counted from its end, not from its insert": async ({ store }) => {
    const job = await adoptOne(store, { createdAt: 1, runAt: 1 });
    await settle(store, await takeOne(store), succeed());
    assert.equal(await store.prune([policy()], 100), 0);
    assert.equal((await jobOf(store, job)).status, "succeeded");
  },

  "a revived job is not deleted for its former end": async ({ store }) => {
    const [job] = await finished(store, [5], { status: "dead" });
    assert.ok(job);
    const revival = { delayMs: 0, runAt: null, attempts: 1 };
    await store.revive({ ids: [{ id: job.id }] }, revival, { reason: null, by: null });
    assert.equal(await store.prune([policy({ status: "dead" })], 100), 0);
    await settle(store, await takeOne(store), succeed());
    assert.equal(await store.prune([policy({ status: "dead" }), policy()], 100), 0);
    assert.deepEqual(await left(store), [job.id]);
  },

  "the id of a pruned job stays taken": async ({ store, place }) => {
    const job = newJob();
    await store.insert([job]);
    await settle(store, await takeOne(store), succeed());
    await place.advance(TICK_MS);
    assert.equal(await store.prune([policy({ olderThanMs: 0 })], 100), 1);
    assert.deepEqual(await store.insert([job]), [
      { outcome: "duplicate", id: job.id, status: "pruned" },
    ]);
  },

  "cleaning up takes nothing that is still in force": async ({ store, place }) => {
    const gone = await insertOne(store);
    await store.remove({ ids: [{ id: gone.id }] }, { reason: null, by: null });
    const job = await insertOne(store, { dedupe: key("k", { ttlMs: LONG_MS }) });
    const hold = { forMs: LONG_MS, reason: "closed", by: null };
    await store.hold([
      { queue: QUEUE, group: null, owner: "cooldown", hold },
      { queue: QUEUE, group: "", owner: "pause", hold: { ...hold, forMs: null } },
    ]);
    await store.records.swap([{ key: "lock", expect: null, value: "1", ttlMs: LONG_MS }]);
    await place.advance(TICK_MS);
    await store.prune([policy({ queue: null })], 100);
    await takeNothing(store);
    await store.hold([{ queue: QUEUE, group: null, owner: "cooldown", hold: null }]);
    await takeNothing(store);
    assert.deepEqual(await store.insert([gone, newJob({ dedupe: key("k") })]), [
      { outcome: "duplicate", id: gone.id, status: "pruned" },
      { outcome: "duplicate", id: job.id, status: "queued" },
    ]);
    assert.equal((await store.records.read(["lock"]))[0]?.value, "1");
  },

  "pruned jobs are no longer counted": async ({ store }) => {
    await finished(store, [5, 4, 0.1]);
    await store.prune([policy()], 100);
    await assertCounts(store, { succeeded: 1 });
  },

  "pruning goes on while jobs are leased and settled": async ({ store }) => {
    await finished(store, [5, 5]);
    const waiting = [newJob(), newJob()];
    await store.insert(waiting);
    const leased = await takeExactly(store, 2);
    assert.equal(await store.prune([policy()], 100), 2);
    for (const job of leased) await settle(store, job, succeed());
    assert.deepEqual(await left(store), sortedIdsOf(waiting));
  },
});
