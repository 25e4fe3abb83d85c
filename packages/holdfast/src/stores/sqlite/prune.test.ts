/** What pruning costs and what it leaves behind: the conformance suite sees neither. */
import assert from "node:assert/strict";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { afterEach, beforeEach, describe, it } from "vitest";
import type { Retention, Store } from "../../core/store.ts";
import { adoptedJob, idsOf, key, newJob } from "../../testing/conformance/new-job.ts";
import { settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import type { DatabaseLike } from "./database-like.ts";
import { sqliteStore } from "./index.ts";

const HOUR_MS = 3_600_000;
const HOLD = { forMs: null, reason: "closed", by: null };
const POLICIES: readonly Retention[] = (["succeeded", "dead", "cancelled"] as const).map(
  (status) => ({ queue: null, status, olderThanMs: HOUR_MS, keep: null }),
);

let now = 0;
let database: DatabaseSync;
let store: Store;
/** Statements that were run, each time. */
let runs = 0;

beforeEach(async () => {
  now = Date.UTC(2031, 0, 1);
  database = new DatabaseSync(":memory:");
  store = sqliteStore({ database: counting(database), now: () => now });
  await store.open();
});
afterEach(async () => {
  await store.close();
  database.close();
});

function counting(inner: DatabaseSync): DatabaseLike {
  return {
    prepare: (sql) => countingStatement(inner.prepare(sql)),
    exec: (sql) => inner.exec(sql),
    close: () => inner.close(),
    get isTransaction() {
      return inner.isTransaction;
    },
  };
}

function countingStatement(statement: StatementSync): StatementSync {
  return new Proxy(statement, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (name === "run" || name === "get" || name === "all") runs++;
        return (value as (...values: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}

async function runsOf(work: () => Promise<unknown>): Promise<number> {
  runs = 0;
  await work();
  return runs;
}

/** Queues in each of which one job has finished. */
async function addQueues(count: number): Promise<void> {
  for (let from = 0; from < count; from += 200) {
    await store.adopt(
      Array.from({ length: 200 }, (_, index) =>
        adoptedJob({ queue: `q${from + index}`, status: "succeeded", finishedAt: now }),
      ),
    );
  }
}

async function queues(): Promise<string[]> {
  return (await store.count()).map(({ queue }) => queue);
}

describe("a prune", () => {
  it("that finds nothing runs as many statements with a thousand queues as with two", async () => {
    await addQueues(2);
    const few = await runsOf(() => store.prune(POLICIES, 500));
    await addQueues(1_000);
    assert.equal(await runsOf(() => store.prune(POLICIES, 500)), few);
    assert.ok(few < 20, `${few} statements`);
  });

  it("takes the oldest of many queues, and goes on where it stopped", async () => {
    const jobs = Array.from({ length: 60 }, (_, index) =>
      adoptedJob({ queue: `q${index % 20}`, status: "dead", finishedAt: 1_000 + (index % 7) }),
    );
    await store.adopt(jobs);
    const oldestFirst = jobs.toSorted((a, b) => Number(a.finishedAt) - Number(b.finishedAt));
    for (let step = 1; step <= 6; step++) {
      assert.equal(await store.prune(POLICIES, 10), 10);
      const left = new Set(idsOf((await store.find({}, { limit: 100 })).jobs));
      const expected = oldestFirst.slice(step * 10).map(({ id }) => id);
      assert.deepEqual([...left].toSorted(), expected.toSorted());
    }
  });

  it("sweeps what discarded jobs leave behind however many there are", async () => {
    const jobs = Array.from({ length: 2_500 }, () => newJob());
    for (let from = 0; from < jobs.length; from += 500) {
      await store.insert(jobs.slice(from, from + 500));
      const leased = (await store.lease(leaseRequest(500))).jobs;
      await store.settle(leased.map((job) => settlement(job, succeed(), { discard: true })));
    }
    now += 2 * HOUR_MS;
    await store.prune(POLICIES, 500);
    const left = database.prepare("SELECT count(*) AS n FROM holdfast_gone").get();
    assert.equal(left?.["n"], 0);
  });
});

describe("a queue without jobs, settings and holds", () => {
  it("is forgotten once it was not used for an hour", async () => {
    await store.insert([newJob({ queue: "once", group: "g" }), newJob({ queue: "once" })]);
    const request = leaseRequest(2, { queues: ["once"] });
    const { jobs } = await store.lease(request);
    await store.settle(jobs.map((job) => settlement(job, succeed(), { discard: true })));
    now += HOUR_MS - 1;
    await store.prune([], 500);
    assert.deepEqual(await queues(), ["once"]);
    now += 1;
    await store.prune([], 500);
    assert.deepEqual(await queues(), []);
    assert.equal((await store.lines("once", { limit: 10 })).queue, null);
    // And is there again with its next job.
    const [job] = [newJob({ queue: "once", group: "g" })];
    await store.insert([job]);
    assert.deepEqual(idsOf((await store.lease(request)).jobs), [job.id]);
  });

  it("is kept while anything is known of it", async () => {
    await store.limit([
      { queue: "limited", group: null, maxActive: 1 },
      { queue: "weighed", group: "g", weight: 2 },
    ]);
    await store.hold([
      { queue: "held", group: null, owner: "pause", hold: HOLD },
      { queue: "held-line", group: "g", owner: "pause", hold: HOLD },
    ]);
    const delayed = newJob({ queue: "delayed", delayMs: 9 * HOUR_MS });
    const keyed = newJob({ queue: "keyed", dedupe: key("k", { ttlMs: 9 * HOUR_MS }) });
    await store.insert([delayed, keyed]);
    await store.adopt([adoptedJob({ queue: "done", status: "dead", finishedAt: now })]);
    const request = leaseRequest(1, { queues: ["keyed"] });
    const { jobs } = await store.lease(request);
    await store.settle(jobs.map((job) => settlement(job, succeed(), { discard: true })));
    now += 2 * HOUR_MS;
    await store.prune([], 500);
    const kept = ["delayed", "done", "held", "held-line", "keyed", "limited", "weighed"];
    assert.deepEqual(await queues(), kept);
    const [again] = await store.insert([newJob({ queue: "keyed", dedupe: key("k") })]);
    assert.deepEqual(again, { outcome: "duplicate", id: keyed.id, status: "pruned" });
  });

  it("is forgotten once its last setting was taken back", async () => {
    await store.limit([{ queue: "limited", group: null, maxActive: 1 }]);
    await store.hold([{ queue: "held", group: "g", owner: "pause", hold: HOLD }]);
    now += HOUR_MS;
    await store.prune([], 500);
    assert.deepEqual(await queues(), ["held", "limited"]);
    await store.limit([{ queue: "limited", group: null, maxActive: null }]);
    await store.hold([{ queue: "held", group: "g", owner: "pause", hold: null }]);
    await store.prune([], 500);
    assert.deepEqual(await queues(), []);
  });

  it("is stored by an insert that shares its transaction with the sweep", async () => {
    await store.limit([{ queue: "mail", group: null, maxActive: 1 }]);
    await store.limit([{ queue: "mail", group: null, maxActive: null }]);
    now += HOUR_MS;
    const job = newJob({ queue: "mail" });
    await Promise.all([store.prune([], 500), store.insert([job])]);
    assert.deepEqual(await queues(), ["mail"]);
    assert.deepEqual(idsOf((await store.lease(leaseRequest(1))).jobs), [job.id]);
  });
});
