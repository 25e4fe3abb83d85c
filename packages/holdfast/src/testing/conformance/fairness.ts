/** Fair turns between the lines of a queue and between the queues of one lease. */
import assert from "node:assert/strict";
import type { LeaseRequest, Store } from "../../core/store.ts";
import { idsOf, insertOne, insertSome, QUEUE } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { leaseRequest, take, takeOneByOne } from "./take.ts";

/** How many of each group (or queue) are among the next so many jobs, taken by such leases. */
async function shares(
  store: Store,
  by: "group" | "queue",
  request: LeaseRequest,
  jobs: number,
): Promise<Record<string, number>> {
  const taken: Record<string, number> = {};
  for (let calls = 0, left = jobs; left > 0; calls++) {
    assert.ok(calls < 10 * jobs, "the jobs are handed out");
    const reply = await store.lease({ ...request, limit: Math.min(request.limit, left) });
    left -= reply.jobs.length;
    for (const job of reply.jobs) taken[job[by]] = (taken[job[by]] ?? 0) + 1;
  }
  return taken;
}

/** `actual` is within a third of `expected`: turns may come in small packs. */
function assertAbout(actual: number | undefined, expected: number): void {
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) <= expected / 3,
    `about ${expected}, not ${actual}`,
  );
}

export const fairness = chapter("fairness", {
  "a lone job beside two thousand waiting ones starts within two leases": async ({ store }) => {
    await insertSome(store, 2_000, { group: "big" });
    await take(store, 10);
    const lone = await insertOne(store, { group: "small" });
    const replies = [await store.lease(leaseRequest(10)), await store.lease(leaseRequest(10))];
    assert.ok(idsOf(replies.flatMap((reply) => reply.jobs)).includes(lone.id));
  },

  "a job without a group gets its turn beside the groups": async ({ store }) => {
    await insertSome(store, 200, { group: "big" });
    const lone = await insertOne(store);
    const replies = [await store.lease(leaseRequest(10)), await store.lease(leaseRequest(10))];
    assert.ok(idsOf(replies.flatMap((reply) => reply.jobs)).includes(lone.id));
  },

  "a lone job starts soon for callers that take one at a time": async ({ store }) => {
    await insertSome(store, 200, { group: "big" });
    const lone = await insertOne(store, { group: "small" });
    assert.ok(idsOf(await takeOneByOne(store, 10)).includes(lone.id));
  },

  "taking one at a time starves no line": async ({ store }) => {
    for (const group of ["a", "b", "c"]) await insertSome(store, 60, { group });
    const taken = await shares(store, "group", leaseRequest(1), 60);
    for (const group of ["a", "b", "c"]) assertAbout(taken[group], 20);
  },

  "lines share alike, however long they are": async ({ store }) => {
    await insertSome(store, 600, { group: "a" });
    await insertSome(store, 150, { group: "b" });
    await insertSome(store, 150, { group: "c" });
    const taken = await shares(store, "group", leaseRequest(12), 300);
    for (const group of ["a", "b", "c"]) assertAbout(taken[group], 100);
  },

  "an urgent line does not starve the others": async ({ store }) => {
    await insertSome(store, 200, { group: "urgent", priority: 0 });
    await insertSome(store, 50, { group: "patient", priority: 8191 });
    const taken = await shares(store, "group", leaseRequest(5), 60);
    assertAbout(taken["patient"], 30);
  },

  "lines share by weight": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: "heavy", weight: 3 }]);
    await insertSome(store, 400, { group: "heavy" });
    await insertSome(store, 400, { group: "light" });
    const taken = await shares(store, "group", leaseRequest(8), 240);
    assertAbout(taken["heavy"], 180);
    assertAbout(taken["light"], 60);
  },

  "a cleared weight is 1 again": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: "a", weight: 50 }]);
    await store.limit([{ queue: QUEUE, group: "a", weight: null }]);
    await insertSome(store, 200, { group: "a" });
    await insertSome(store, 200, { group: "b" });
    const taken = await shares(store, "group", leaseRequest(8), 120);
    assertAbout(taken["a"], 60);
    assertAbout(taken["b"], 60);
  },

  "many lines each get a turn": async ({ store }) => {
    for (let line = 0; line < 40; line++) await insertSome(store, 10, { group: `line-${line}` });
    const taken = await shares(store, "group", leaseRequest(20), 200);
    assert.equal(Object.keys(taken).length, 40);
  },

  "a line alone gets everything": async ({ store }) => {
    await insertSome(store, 30, { group: "a" });
    assert.equal((await take(store, 30)).length, 30);
  },

  "queues of one lease share alike": async ({ store }) => {
    for (const queue of ["a", "b"]) await insertSome(store, 200, { queue });
    const request = leaseRequest(10, { queues: ["a", "b"] });
    const taken = await shares(store, "queue", request, 120);
    assertAbout(taken["a"], 60);
    assertAbout(taken["b"], 60);
  },

  "queues of one lease share by weight": async ({ store }) => {
    for (const queue of ["a", "b"]) await insertSome(store, 300, { queue });
    const queues = [
      { queue: "a", limit: 12, weight: 3 },
      { queue: "b", limit: 12 },
    ];
    const taken = await shares(store, "queue", { ...leaseRequest(12), queues }, 240);
    assertAbout(taken["a"], 180);
    assertAbout(taken["b"], 60);
  },

  "taking one at a time starves no queue": async ({ store }) => {
    for (const queue of ["a", "b", "c"]) await insertSome(store, 60, { queue });
    const request = leaseRequest(1, { queues: ["a", "b", "c"] });
    const taken = await shares(store, "queue", request, 60);
    for (const queue of ["a", "b", "c"]) assertAbout(taken[queue], 20);
  },

  "each queue gives at most its own limit": async ({ store }) => {
    for (const queue of ["a", "b"]) await insertSome(store, 20, { queue });
    const queues = [
      { queue: "a", limit: 2 },
      { queue: "b", limit: 10 },
    ];
    const { jobs } = await store.lease({ ...leaseRequest(12), queues });
    assert.ok(jobs.filter((job) => job.queue === "a").length <= 2);
    assert.ok(jobs.filter((job) => job.queue === "b").length <= 10);
  },

  "the share of an empty queue goes to the others": async ({ store }) => {
    await insertSome(store, 40, { queue: "full" });
    const queues = [
      { queue: "empty", limit: 10, weight: 9 },
      { queue: "full", limit: 10, weight: 1 },
    ];
    let taken = 0;
    for (let call = 0; call < 4; call++) {
      taken += (await store.lease({ ...leaseRequest(10), queues })).jobs.length;
    }
    assert.ok(taken > 8, "far more than its own tenth");
  },

  "what empty queues leave is shared by all the others": async ({ store }) => {
    for (const queue of ["one", "two"]) await insertSome(store, 100, { queue });
    const empty = Array.from({ length: 8 }, (_, n) => `empty ${n}`);
    for (const queue of empty) await store.limit([{ queue, group: null, maxWaiting: 1_000 }]);
    const queues = ["one", ...empty, "two"].map((queue) => ({ queue, limit: 20 }));
    const jobs = [];
    for (let call = 0; call < 5; call++) {
      jobs.push(...(await store.lease({ ...leaseRequest(20), queues })).jobs);
    }
    const ofTwo = jobs.filter(({ queue }) => queue === "two").length;
    assert.ok(jobs.length > 50, "far more than their own fifth");
    assert.ok(ofTwo > jobs.length / 3 && ofTwo < (2 * jobs.length) / 3, "about half each");
  },
});
