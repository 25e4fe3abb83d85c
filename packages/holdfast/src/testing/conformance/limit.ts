import assert from "node:assert/strict";
import type { LeasedJob } from "../../core/store.ts";
import { lineOf, queueOf } from "./looking.ts";
import { idsOf, insertOne, insertSome, key, newJobs, QUEUE, sortedIdsOf } from "./new-job.ts";
import { chapter } from "./scenario.ts";
import { release, retry, settle, succeed } from "./settling.ts";
import { leaseRequest, take, takeExactly, takeNothing, takeOne } from "./take.ts";
import { LONG_MS, PASSED_MS, SHORT_MS } from "./times.ts";

function perGroup(jobs: readonly LeasedJob[]): Record<string, number> {
  const numbers: Record<string, number> = {};
  for (const job of jobs) numbers[job.group] = (numbers[job.group] ?? 0) + 1;
  return numbers;
}

export const limit = chapter("limit", {
  "no more jobs of a queue run at once than its cap": async ({ store, another }) => {
    await store.limit([{ queue: QUEUE, group: null, maxActive: 3 }]);
    await insertSome(store, 5);
    await insertSome(store, 5, { group: "a" });
    await takeExactly(store, 3);
    await takeNothing(store);
    await takeNothing(await another());
  },

  "no more jobs of a line run at once than its cap": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: "a", maxActive: 2 }]);
    await insertSome(store, 5, { group: "a" });
    await insertSome(store, 5, { group: "b" });
    assert.deepEqual(perGroup(await take(store, 10)), { a: 2, b: 5 });
  },

  "the line without a group can be capped alone": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: "", maxActive: 1 }]);
    await insertSome(store, 3);
    await insertSome(store, 3, { group: "a" });
    assert.deepEqual(perGroup(await take(store, 6)), { "": 1, a: 3 });
  },

  "a queue's cap per group is for every line": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxActivePerGroup: 2 }]);
    for (const group of ["", "a", "b"]) await insertSome(store, 4, { group });
    assert.deepEqual(perGroup(await take(store, 12)), { "": 2, a: 2, b: 2 });
  },

  "a line's own cap goes before the queue's cap per group": async ({ store }) => {
    await store.limit([
      { queue: QUEUE, group: null, maxActivePerGroup: 1 },
      { queue: QUEUE, group: "a", maxActive: 3 },
    ]);
    for (const group of ["a", "b"]) await insertSome(store, 5, { group });
    assert.deepEqual(perGroup(await take(store, 10)), { a: 3, b: 1 });
    await store.limit([{ queue: QUEUE, group: "a", maxActive: null }]);
    await takeNothing(store);
  },

  "the caps of queue and line hold together": async ({ store }) => {
    await store.limit([
      { queue: QUEUE, group: null, maxActive: 4, maxActivePerGroup: 3 },
      { queue: QUEUE, group: "a", maxActive: 1 },
    ]);
    for (const group of ["a", "b", "c"]) await insertSome(store, 5, { group });
    const taken = perGroup(await take(store, 15));
    assert.ok((taken["a"] ?? 0) <= 1 && (taken["b"] ?? 0) <= 3 && (taken["c"] ?? 0) <= 3);
    assert.equal((taken["a"] ?? 0) + (taken["b"] ?? 0) + (taken["c"] ?? 0), 4);
  },

  "every end of an attempt frees its slot": async ({ store }) => {
    await store.limit([
      { queue: QUEUE, group: null, maxActive: 1 },
      { queue: QUEUE, group: "a", maxActive: 1 },
    ]);
    await insertSome(store, 4, { group: "a" });
    for (const outcome of [succeed(), retry(LONG_MS), release(LONG_MS)]) {
      const leased = await takeOne(store);
      await takeNothing(store);
      await settle(store, leased, outcome);
    }
    await takeOne(store);
  },

  "a cap counts jobs that have a key or are tried again like any other": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: "a", maxActive: 1 }]);
    await insertOne(store, { group: "a", dedupe: key("once") });
    await insertSome(store, 2, { group: "a" });
    for (let time = 0; time < 4; time++) {
      const leased = await takeOne(store);
      assert.equal((await lineOf(store, "a")).active, 1);
      await takeNothing(store);
      await settle(store, leased, retry());
    }
  },

  "a slot is freed once, however often its attempt is settled": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: "a", maxActive: 2 }]);
    await insertSome(store, 6, { group: "a" });
    const [first] = await takeExactly(store, 2);
    assert.ok(first);
    for (let time = 0; time < 3; time++) await settle(store, first, succeed());
    await takeOne(store);
    await takeNothing(store);
  },

  "a reaped lease frees its slot": async ({ store, place }) => {
    await store.limit([
      { queue: QUEUE, group: null, maxActive: 1 },
      { queue: QUEUE, group: "a", maxActive: 1 },
    ]);
    await insertSome(store, 2, { group: "a" });
    await takeOne(store, { leaseMs: SHORT_MS });
    await place.advance(PASSED_MS);
    await takeNothing(store);
    await store.reap({ limit: 1 });
    await takeOne(store);
    await takeNothing(store);
  },

  "a cap counts the jobs that ran before it was set": async ({ store }) => {
    await insertSome(store, 8, { group: "a" });
    const [first, second] = await takeExactly(store, 3);
    assert.ok(first && second);
    await store.limit([{ queue: QUEUE, group: "a", maxActive: 2 }]);
    await takeNothing(store);
    await settle(store, first, succeed());
    await takeNothing(store);
    await settle(store, second, succeed());
    await takeOne(store);
    await takeNothing(store);
  },

  "a queue's cap counts the jobs that ran before it was set": async ({ store }) => {
    await insertSome(store, 6);
    const [first] = await takeExactly(store, 2);
    assert.ok(first);
    await store.limit([{ queue: QUEUE, group: null, maxActive: 2 }]);
    await takeNothing(store);
    await settle(store, first, succeed());
    await takeOne(store);
    await takeNothing(store);
  },

  "a raised cap lets more run at once": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: "a", maxActive: 1 }]);
    await insertSome(store, 5, { group: "a" });
    await takeOne(store);
    await takeNothing(store);
    await store.limit([{ queue: QUEUE, group: "a", maxActive: 3 }]);
    await takeExactly(store, 2);
    await takeNothing(store);
  },

  "a cleared cap lets all run": async ({ store }) => {
    await store.limit([
      { queue: QUEUE, group: null, maxActive: 1, maxActivePerGroup: 1 },
      { queue: QUEUE, group: "a", maxActive: 1 },
    ]);
    await insertSome(store, 5, { group: "a" });
    await takeOne(store);
    await store.limit([
      { queue: QUEUE, group: null, maxActive: null, maxActivePerGroup: null },
      { queue: QUEUE, group: "a", maxActive: null },
    ]);
    await takeExactly(store, 4);
  },

  "a change is a patch: what it does not name stays": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxActive: 3, maxWaiting: 7 }]);
    await store.limit([{ queue: QUEUE, group: null, maxActivePerGroup: 2 }]);
    const patched = await queueOf(store);
    assert.deepEqual([patched.maxActive, patched.maxActivePerGroup, patched.maxWaiting], [3, 2, 7]);
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: null }]);
    const cleared = await queueOf(store);
    assert.deepEqual(
      [cleared.maxActive, cleared.maxActivePerGroup, cleared.maxWaiting],
      [3, 2, null],
    );
  },

  "a line's cap and weight can be read, and are patched one by one": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: "a", maxActive: 3 }]);
    await store.limit([{ queue: QUEUE, group: "a", weight: 5 }]);
    const first = await lineOf(store, "a");
    assert.deepEqual([first.maxActive, first.weight], [3, 5]);
    await store.limit([{ queue: QUEUE, group: "a", maxActive: null }]);
    const second = await lineOf(store, "a");
    assert.deepEqual([second.maxActive, second.weight], [null, 5]);
  },

  "a lease takes no more from capped lines than its bound for them": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: "capped", maxActive: 10 }]);
    await insertSome(store, 10, { group: "capped" });
    await insertSome(store, 10, { group: "free" });
    const { jobs } = await store.lease(leaseRequest(20, { cappedLimit: 1 }));
    assert.ok((perGroup(jobs)["capped"] ?? 0) <= 1);
    await takeExactly(store, 20 - jobs.length);
  },

  "a bound of nothing for capped lines leaves them their slots": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxActivePerGroup: 2 }]);
    await insertSome(store, 3, { group: "a" });
    const free = await insertSome(store, 3, { queue: "free" });
    await store.limit([{ queue: "whole", group: null, maxActive: 2 }]);
    await insertSome(store, 3, { queue: "whole" });
    const queues = [QUEUE, "free", "whole"];
    const taken = await take(store, 10, { queues, cappedLimit: 0 });
    assert.deepEqual(sortedIdsOf(taken), sortedIdsOf(free));
    await takeExactly(store, 2);
    await takeExactly(store, 2, { queue: "whole" });
  },

  "of a bound for capped lines that is not enough for all, the queue asked first has its share":
    async ({ store }) => {
      const names = ["one", "two", "three"];
      for (const queue of names) {
        await store.limit([{ queue, group: null, maxActivePerGroup: 100 }]);
        await insertSome(store, 20, { queue });
      }
      for (let round = 0; round < 6; round++) {
        const queues = [...names.slice(round % 3), ...names.slice(0, round % 3)];
        if (round > 2) queues.reverse();
        let jobs: readonly LeasedJob[] = [];
        for (let tries = 0; tries < 5 && jobs.length === 0; tries++) {
          ({ jobs } = await store.lease(leaseRequest(9, { queues, cappedLimit: 1 })));
        }
        assert.deepEqual(
          jobs.map(({ queue }) => queue),
          queues.slice(0, 1),
        );
      }
    },

  "a full line does not hide the others": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: "full", maxActive: 1 }]);
    await insertSome(store, 300, { group: "full" });
    await takeOne(store);
    const open = await insertOne(store, { group: "open" });
    assert.equal((await takeOne(store)).id, open.id);
  },

  "a full queue does not hide the others of a lease": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxActive: 1 }]);
    await insertSome(store, 10);
    await takeOne(store);
    const sms = await insertSome(store, 3, { queue: "sms" });
    const taken = await take(store, 10, { queues: [QUEUE, "sms"] });
    assert.deepEqual(idsOf(taken), idsOf(sms));
  },

  "a lease does not call the jobs of a full line ready": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: "a", maxActive: 1 }]);
    await insertSome(store, 3, { group: "a" });
    await takeOne(store);
    const { jobs, nextInMs } = await store.lease(leaseRequest(1));
    assert.deepEqual(jobs, []);
    assert.notEqual(nextInMs, 0);
  },

  "a lease does not call the jobs of a full queue ready": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxActive: 1 }]);
    await insertSome(store, 3);
    await insertSome(store, 3, { group: "a" });
    await takeOne(store);
    const { jobs, nextInMs } = await store.lease(leaseRequest(1));
    assert.deepEqual(jobs, []);
    assert.notEqual(nextInMs, 0);
  },

  "a lease that wants nothing of capped lines does not call their jobs ready": async ({
    store,
  }) => {
    await store.limit([{ queue: QUEUE, group: null, maxActivePerGroup: 5 }]);
    await insertSome(store, 3, { group: "a" });
    const { jobs, nextInMs } = await store.lease(leaseRequest(1, { cappedLimit: 0 }));
    assert.deepEqual(jobs, []);
    assert.notEqual(nextInMs, 0);
  },

  "a lifted bound lets jobs in again": async ({ store }) => {
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 2 }]);
    await store.insert(newJobs(3));
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 3 }]);
    const results = await store.insert(newJobs(2));
    assert.deepEqual(
      results.map((result) => result.outcome),
      ["added", "full"],
    );
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: null }]);
    await insertSome(store, 5);
  },
});
