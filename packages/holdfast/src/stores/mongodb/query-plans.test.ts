/**
 * The verbs that run all day, on a collection that has grown: none may walk the jobs. The server keeps
 * a record of every operation and how many documents it looked at.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  mongodbDatabase,
  type MongodbDatabase,
} from "../../../../../test/servers/mongodb-place.ts";
import type { Store } from "../../core/store.ts";
import {
  adoptedJob,
  insertSome,
  newJob,
  newJobs,
  QUEUE,
} from "../../testing/conformance/new-job.ts";
import { leaseRef, retry, settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { LONG_MS } from "../../testing/conformance/times.ts";
import { mongodbStore } from "./index.ts";

const MANY = 3_000;
const FEW = 100;
/** By a lease, in one question. */
const ASKED = ["jobs", "fresh", "queues"];

let database: MongodbDatabase;
let store: Store;

beforeAll(async () => {
  database = await mongodbDatabase();
  store = mongodbStore({ db: database.db });
  await store.open();
  for (let done = 0; done < MANY; done += 200) {
    const finished = Array.from({ length: 200 }, () => adoptedJob({ status: "succeeded" }));
    await store.adopt(finished);
    await insertSome(store, 200, { group: "held" });
    await insertSome(store, 200, { delayMs: LONG_MS });
  }
  await insertSome(store, 50, { group: "open" });
  const hold = { forMs: null, reason: "closed", by: null };
  await store.hold([{ queue: QUEUE, group: "held", owner: "pause", hold }]);
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

interface Profiled {
  readonly op?: string;
  readonly planSummary?: string;
  readonly docsExamined?: number;
  readonly keysExamined?: number;
}

async function operationsOf(
  work: () => Promise<unknown>,
  collections: readonly string[] = ["jobs", "fresh"],
): Promise<Profiled[]> {
  const { db } = database;
  await db.command({ profile: 2 });
  await work();
  await db.command({ profile: 0 });
  const ours = { ns: { $in: collections.map((it) => `${db.databaseName}.holdfast_${it}`) } };
  const found = await db.collection("system.profile").find(ours).toArray();
  await db.collection("system.profile").drop();
  return found as Profiled[];
}

async function jobs(limit: number) {
  return (await store.lease(leaseRequest(limit))).jobs;
}

const VERBS: Readonly<Record<string, () => Promise<unknown>>> = {
  insert: () => store.insert(newJobs(5)),
  lease: () => jobs(5),
  "lease with a bound in bytes": () => store.lease(leaseRequest(5, { maxBytes: 100_000 })),
  "lease and disown": async () => {
    await jobs(5);
    await store.disown({ worker: leaseRequest(5).worker, queues: [QUEUE], except: [] });
  },
  "lease, renew and settle": async () => {
    const leased = await jobs(4);
    await store.renew(leased.map(leaseRef), LONG_MS);
    const outcomes = [succeed(), succeed("1"), retry(), retry()];
    await store.settle(leased.map((job, index) => settlement(job, outcomes[index] ?? succeed())));
  },
  reap: () => store.reap({ limit: 5 }),
  "find by status": () => store.find({ status: ["dead", "processing"] }, { limit: 5 }),
  "find the newest": () => store.find({}, { limit: 5 }),
  prune: () =>
    store.prune([{ queue: QUEUE, status: "succeeded", olderThanMs: LONG_MS, keep: null }], 5),
};

describe("on a collection that has grown", () => {
  it("get looks at few of many new jobs", async () => {
    const all = newJobs(MANY, { queue: "new" });
    for (let done = 0; done < MANY; done += 200) {
      await store.insert(all.slice(done, done + 200), { areNew: true });
    }
    const some = [0, 700, MANY - 1].map((at) => ({ id: all[at]?.id ?? "", queue: "new" }));
    const operations = await operationsOf(async () => {
      const found = await store.get(some);
      expect(found.map((job) => (job as { readonly id: string }).id)).toEqual(
        some.map(({ id }) => id),
      );
    });
    for (const one of operations) {
      expect(one.planSummary ?? "").not.toContain("COLLSCAN");
      expect(one.docsExamined ?? 0, JSON.stringify(one.planSummary)).toBeLessThan(FEW);
    }
  });

  for (const [name, verb] of Object.entries(VERBS)) {
    it(`${name} walks no jobs`, async () => {
      const operations = await operationsOf(verb);
      expect(operations.length).toBeGreaterThan(0);
      for (const one of operations) {
        expect(one.planSummary ?? "").not.toContain("COLLSCAN");
        expect(one.docsExamined ?? 0, JSON.stringify(one.planSummary)).toBeLessThan(FEW);
      }
    });
  }

  it("a lease jumps from line to line, however long they are", async () => {
    for (let time = 0; time < 2; time++) {
      const operations = await operationsOf(() => jobs(5), ASKED);
      for (const one of operations) expect(one.keysExamined ?? 0).toBeLessThan(FEW);
    }
  });

  it("a lease of many jobs looks at those, and at no others behind them", async () => {
    const queue = "long-line";
    for (let done = 0; done < MANY; done += 200) await insertSome(store, 200, { queue });
    // More than the server looks at before it chooses an index.
    const many = 140;
    const lease = () => store.lease(leaseRequest(many, { queue }));
    for (let time = 0; time < 3; time++) {
      const operations = await operationsOf(lease, ASKED);
      for (const one of operations) expect(one.docsExamined ?? 0).toBeLessThan(2 * many);
    }
  });

  it("a lease of a queue with one line is a question and two writes", async () => {
    const queue = "one-line";
    await insertSome(store, 20, { queue });
    const lease = () => store.lease(leaseRequest(20, { queue }));
    const operations = await operationsOf(lease, ASKED);
    expect(operations.map(({ op }) => op)).toEqual(["command", "insert", "remove"]);
  });

  it("a lease that takes all there is asks no more, and one that finds nothing asks once", async () => {
    const queue = "short-line";
    await insertSome(store, 3, { queue });
    const lease = () => store.lease(leaseRequest(20, { queue }));
    const asked = async () => (await operationsOf(lease, ASKED)).map(({ op }) => op);
    expect(await asked()).toEqual(["command", "insert", "remove"]);
    expect(await asked()).toEqual(["command"]);
  });
});

/** How many entries of indexes these operations looked at. */
function keysOf(operations: readonly Profiled[]): number {
  return operations.reduce((sum, { keysExamined = 0 }) => sum + keysExamined, 0);
}

/** A lease walks all lines now and then: of some calls the one that looked at least is the usual one. */
async function keysOfUsual(lease: () => Promise<unknown>): Promise<number> {
  const keys: number[] = [];
  for (let calls = 0; calls < 8; calls++) keys.push(keysOf(await operationsOf(lease)));
  return Math.min(...keys);
}

describe("with many lines", () => {
  const LINES = 600;
  const groups = Array.from({ length: LINES }, (_, index) => `g${index}`);

  async function insertInto(queue: string, each: number): Promise<void> {
    for (let times = 0; times < each; times++) {
      await store.insert(
        groups.map((group) => newJob({ queue, group })),
        { areNew: true },
      );
    }
  }

  it("a lease looks at none of those that are held", async () => {
    const queue = "held-lines";
    await insertInto(queue, 1);
    await insertSome(store, 500, { queue, group: "open" });
    const hold = { forMs: null, reason: "closed", by: null };
    await store.hold(groups.map((group) => ({ queue, group, owner: "pause", hold })));
    // Of several queues: the server's record leaves out a part of the question about one alone.
    const lease = () => store.lease(leaseRequest(10, { queues: [queue, "elsewhere"] }));
    expect(await keysOfUsual(lease)).toBeLessThan(LINES / 2);
  });

  it("a lease from capped ones says when to come back without a look at all of them", async () => {
    const queue = "capped-lines";
    await store.limit([{ queue, group: null, maxActivePerGroup: 1 }]);
    await insertInto(queue, 2);
    const request = { ...leaseRequest(20, { queue }), cappedLimit: 10 };
    const lease = async () => {
      const { jobs: leased, nextInMs } = await store.lease(request);
      expect([leased.length, nextInMs]).toEqual([10, 0]);
    };
    expect(await keysOfUsual(lease)).toBeLessThan(LINES);
  });

  it("a lease that may take few from capped ones looks at few, however many it wants", async () => {
    const queue = "wanted-lines";
    await store.limit([{ queue, group: null, maxActivePerGroup: 1 }]);
    await insertInto(queue, 2);
    const request = { ...leaseRequest(500, { queue }), cappedLimit: 10 };
    const lease = async () => expect((await store.lease(request)).jobs).toHaveLength(10);
    expect(await keysOfUsual(lease)).toBeLessThan(LINES / 2);
  });
});

describe("with many queues", () => {
  const QUEUES = Array.from({ length: 300 }, (_, index) => `queue-${index}`);

  it("a prune and a count ask no more than with few", async () => {
    await store.insert(
      QUEUES.map((queue) => newJob({ queue })),
      { areNew: true },
    );
    const policy = { queue: null, status: "succeeded", olderThanMs: LONG_MS, keep: 5_000 } as const;
    const everywhere = ["jobs", "fresh", "queues", "lines", "records", "disowned"];
    const pruned = await operationsOf(() => store.prune([policy], 10), everywhere);
    expect(pruned.length).toBeLessThan(30);
    const counted = await operationsOf(() => store.count(), everywhere);
    expect(counted.length).toBeLessThan(20);
  });

  it("a lease asks once about those that have nothing, and looks at the others only", async () => {
    const idle = QUEUES.map((queue) => `idle-${queue}`);
    await store.limit(idle.map((queue) => ({ queue, group: null, maxActive: 5 })));
    const [first = "", delayed = ""] = idle;
    await insertSome(store, 5, { queue: delayed, delayMs: LONG_MS });
    const lease = () => store.lease(leaseRequest(10, { queues: idle }));
    const nothing = await operationsOf(async () => {
      const { jobs: leased, nextInMs } = await lease();
      expect(leased).toEqual([]);
      expect(nextInMs).toBeGreaterThan(LONG_MS / 2);
    }, ASKED);
    expect(nothing.map(({ op }) => op)).toEqual(["command"]);
    expect(Math.max(...nothing.map(({ docsExamined = 0 }) => docsExamined))).toBeLessThan(400);
    await insertSome(store, 5, { queue: first });
    const some = await operationsOf(
      async () => expect((await lease()).jobs).toHaveLength(5),
      ["jobs", "fresh"],
    );
    expect(some.length).toBeLessThan(30);
  });

  it("a reaping reads no lease that has not run out", async () => {
    await store.lease(leaseRequest(50, { queue: "queue-0" }));
    const docs = (await operationsOf(() => store.reap({ limit: 100 }))).map(
      ({ docsExamined = 0 }) => docsExamined,
    );
    expect(Math.max(0, ...docs)).toBe(0);
  });
});
