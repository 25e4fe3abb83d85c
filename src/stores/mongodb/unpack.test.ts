/**
 * What packs bring: jobs that share a document until something sets them apart. Whatever happens to one
 * of them, the others are as they would be alone, also if a process dies while it takes a pack apart.
 */
import assert from "node:assert/strict";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  mongodbDatabase,
  mongodbPlace,
  type MongodbDatabase,
} from "../../../test/servers/mongodb-place.ts";
import type { NewJob } from "../../core/job.ts";
import type { LeasedJob, Store } from "../../core/store.ts";
import { countsOf, jobOf } from "../../testing/conformance/looking.ts";
import { insertAll, newJobs, QUEUE } from "../../testing/conformance/new-job.ts";
import { leaseRef, retry, settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly } from "../../testing/conformance/take.ts";
import { LONG_MS } from "../../testing/conformance/times.ts";
import type { DbLike, Document } from "./driver-like.ts";
import { mongodbStore } from "./index.ts";

const WHY = { reason: "test", by: "test" };
const START = Date.UTC(2031, 0, 1);
const HOUR_MS = 3_600_000;

let database: MongodbDatabase;
let store: Store;
let now: number;

beforeAll(async () => void (database = await mongodbDatabase("mongodb-standalone")));
beforeEach(async () => {
  now = START;
  store = mongodbStore({ db: database.db, now: () => now });
  await store.open();
});
afterEach(async () => {
  await store.close();
  await (await mongodbPlace(database)).dispose();
});
afterAll(() => database.drop());

async function packed(count: number): Promise<NewJob[]> {
  const jobs = newJobs(count);
  await insertAll(store, jobs);
  return jobs;
}

function documents(): Promise<Document[]> {
  return database.db.collection("holdfast_jobs").find({}).toArray();
}

async function packsLeft(): Promise<number> {
  return (await documents()).filter((one) => "pack" in one).length;
}

function ids(jobs: readonly { readonly id: string }[]): string[] {
  return jobs.map(({ id }) => id);
}

class Died extends Error {}

/** A database whose client dies at the n-th write to our jobs. */
function dyingAt(most: number): DbLike {
  const { db } = database;
  let writes = 0;
  const orDie = async <T>(write: () => Promise<T>): Promise<T> => {
    if (++writes >= most) throw new Died("kill -9");
    return write();
  };
  const isJobs = (name: unknown): boolean => name === "holdfast_jobs";
  return {
    databaseName: db.databaseName,
    createCollection: (name, options) => db.createCollection(name, options),
    command(command, options) {
      const run = (): Promise<Document> => db.command(command, options);
      return isJobs(command["insert"]) || isJobs(command["update"]) ? orDie(run) : run();
    },
    collection(name, options) {
      const collection = db.collection(name, options);
      if (!isJobs(name)) return collection as never;
      return new Proxy(collection, {
        get: (target, key) => {
          const value: unknown = Reflect.get(target, key);
          if (typeof value !== "function") return value;
          const call = value.bind(target) as (...all: unknown[]) => Promise<unknown>;
          const isWrite = key === "updateMany" || key === "bulkWrite" || key === "deleteMany";
          return isWrite ? (...all: unknown[]) => orDie(() => call(...all)) : call;
        },
      }) as never;
    },
  };
}

async function dieAt(most: number, work: (dying: Store) => Promise<unknown>): Promise<void> {
  const dying = mongodbStore({ db: dyingAt(most), now: () => now });
  await dying.open();
  // What is done behind the caller's back may die behind it.
  await work(dying).catch((error: unknown) => expect(error).toBeInstanceOf(Died));
  await dying.close();
}

describe("a process that dies while it takes a pack apart", () => {
  for (const [when, most] of [
    ["before it has begun", 1],
    ["before the documents", 2],
    ["before the stub", 3],
  ] as const) {
    it(`${when} has changed nothing, and the next one does it`, async () => {
      const jobs = await packed(4);
      const leased = await takeExactly(store, 4);
      const retried = [settlement(leased[1] as LeasedJob, retry())];
      await dieAt(most, (dying) => dying.settle(retried));
      for (const job of jobs) expect((await jobOf(store, job)).status).toBe("processing");
      expect(await store.settle(retried)).toEqual(["settled"]);
      const others = leased.filter((_, index) => index !== 1);
      const ended = others.map((job) => settlement(job, succeed()));
      expect(await store.settle(ended)).toEqual(["settled", "settled", "settled"]);
      now += 6_000;
      await store.reap({ limit: 0 });
      expect(await countsOf(store)).toMatchObject({ ready: 1, processing: 0, succeeded: 3 });
      const results = await store.insert(jobs);
      expect(results.map(({ outcome }) => outcome)).toEqual(Array(4).fill("duplicate"));
    });

    it(`${when} keeps nobody from what its lease held`, async () => {
      const jobs = await packed(4);
      const leased = await takeExactly(store, 4);
      await dieAt(most, (dying) => dying.settle([settlement(leased[3] as LeasedJob, retry())]));
      now += 2 * LONG_MS;
      expect(ids(await store.reap({ limit: 10 })).sort()).toEqual(ids(jobs).sort());
      expect(await packsLeft()).toBe(0);
      expect(ids(await takeExactly(store, 4))).toEqual(ids(jobs));
    });
  }

  it("leaves it to a chore if nobody meets it", async () => {
    const jobs = await packed(3);
    const leased = await takeExactly(store, 3);
    await dieAt(2, (dying) => dying.settle([settlement(leased[0] as LeasedJob, retry())]));
    expect(await packsLeft()).toBe(1);
    now += 6_000;
    await store.reap({ limit: 0 });
    expect(await packsLeft()).toBe(0);
    const settled = leased.map((job) => settlement(job, succeed()));
    expect(await store.settle(settled)).toEqual(["settled", "settled", "settled"]);
    for (const job of jobs) expect((await jobOf(store, job)).status).toBe("succeeded");
  });
});

describe("a stub", () => {
  it("goes when the last of its jobs is forgotten", async () => {
    const jobs = await packed(2);
    await store.remove({ ids: jobs.map(({ id }) => ({ id })) }, WHY);
    now += 2 * HOUR_MS;
    await store.prune([], 10);
    now += 2 * HOUR_MS;
    await store.prune([], 10);
    expect(await documents()).toEqual([]);
  });
});

describe("a page", () => {
  it("begins and ends inside a pack, in both orders", async () => {
    const jobs = [...(await packed(5)), ...(await packed(1)), ...(await packed(4))];
    for (const order of ["oldest", "newest"] as const) {
      for (const limit of [1, 2, 3, 4, 7, 10]) {
        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const page = await store.find({ queue: QUEUE }, { limit, order, cursor });
          expect(page.jobs.length).toBeLessThanOrEqual(limit);
          seen.push(...ids(page.jobs));
          cursor = page.nextCursor;
        } while (cursor !== null);
        expect(seen).toEqual(order === "oldest" ? ids(jobs) : ids(jobs).toReversed());
      }
    }
  });

  it("shows of a pack that has partly ended each job where it belongs", async () => {
    const jobs = await packed(4);
    const leased = await takeExactly(store, 4);
    now += 5;
    await store.settle(
      [leased[1], leased[2]].map((job) => settlement(job as LeasedJob, succeed())),
    );
    const of = async (status: "processing" | "succeeded"): Promise<string[]> =>
      ids((await store.find({ status: [status] }, { limit: 10, order: "oldest" })).jobs);
    expect(await of("succeeded")).toEqual([jobs[1]?.id, jobs[2]?.id]);
    expect(await of("processing")).toEqual([jobs[0]?.id, jobs[3]?.id]);
    expect(await countsOf(store)).toMatchObject({ ready: 0, processing: 2, succeeded: 2 });
    expect(await packsLeft()).toBe(1);
    const policy = { queue: QUEUE, status: "succeeded", olderThanMs: null, keep: 1 } as const;
    expect(await store.prune([policy], 10)).toBe(1);
    expect(await store.get([{ id: jobs[1]?.id ?? "" }])).toEqual(["pruned"]);
    expect(await countsOf(store)).toMatchObject({ processing: 2, succeeded: 1 });
  });
});

describe("jobs of one pack", () => {
  it("that end one after the other are settled once each, and remembered", async () => {
    await packed(3);
    const leased = await takeExactly(store, 3);
    for (const [index, job] of leased.entries()) {
      now += 10;
      const ended = settlement(job, succeed(String(index)));
      expect(await store.settle([ended])).toEqual(["settled"]);
      expect(await store.settle([ended])).toEqual(["settled"]);
      expect(await store.settle([{ ...ended, fence: job.fence + 1 }])).toEqual(["lost"]);
      expect(await jobOf(store, job)).toMatchObject({ finishedAt: now, result: String(index) });
    }
    expect(await packsLeft()).toBe(1);
    expect(await countsOf(store)).toMatchObject({ processing: 0, succeeded: 3 });
  });

  it("are the same after a plain success as after one with thought", async () => {
    await packed(2);
    const leased = await takeExactly(store, 2);
    const [plain, other] = leased.map((job) => settlement(job, succeed('"done"')));
    assert.ok(plain && other);
    await store.settle([plain, other]);
    await packed(2);
    const again = (await takeExactly(store, 2)).map((job) => settlement(job, succeed('"done"')));
    await store.settle(again.map((one) => ({ ...one, handle: "" })));
    const strip = async ({ id }: { id: string }): Promise<object> => {
      const { id: _id, ...job } = await jobOf(store, { id });
      return job;
    };
    const [before, after] = [await strip(plain), await strip(again[0] as { id: string })];
    expect(after).toEqual({ ...before, fence: (after as { fence: number }).fence });
  });

  it("are taken one by one by whoever wants few, in their order", async () => {
    const jobs = await packed(5);
    for (const job of jobs)
      expect(ids((await store.lease(leaseRequest(1))).jobs)).toEqual([job.id]);
  });

  it("are leased no more than a cap has room for", async () => {
    const jobs = await packed(10);
    await store.limit([{ queue: QUEUE, group: null, maxActive: 4 }]);
    expect(ids((await store.lease(leaseRequest(10))).jobs)).toEqual(ids(jobs.slice(0, 4)));
    expect((await store.lease(leaseRequest(10))).jobs).toEqual([]);
  });

  it("count against a bound", async () => {
    await packed(5);
    await store.limit([{ queue: QUEUE, group: null, maxWaiting: 6 }]);
    const results = await store.insert(newJobs(2));
    expect(results.map(({ outcome }) => outcome)).toEqual(["added", "full"]);
  });

  it("are renewed each for itself", async () => {
    await packed(3);
    const leased = await takeExactly(store, 3);
    const [first] = leased as [LeasedJob];
    expect(await store.renew([leaseRef(first)], 10 * LONG_MS)).toEqual(["kept"]);
    now += 5 * LONG_MS;
    expect(ids(await store.reap({ limit: 10 }))).toEqual(ids(leased.slice(1)));
    expect(await store.renew(leased.map(leaseRef), LONG_MS)).toEqual(["kept", "lost", "lost"]);
  });

  it("with large results do not outgrow their document", async () => {
    const jobs = await packed(16);
    const result = JSON.stringify("x".repeat(250_000));
    const leased = await takeExactly(store, 16);
    for (let start = 0; start < 16; start += 8) {
      const some = leased.slice(start, start + 8).map((job) => settlement(job, succeed(result)));
      expect(await store.settle(some)).toEqual(Array(8).fill("settled"));
    }
    for (const job of jobs) expect((await jobOf(store, job)).result).toBe(result);
  });

  it("that are not kept leave nothing but the memory of them", async () => {
    const jobs = await packed(3);
    const ended = (await takeExactly(store, 3)).map((job) =>
      settlement(job, succeed(), { discard: true }),
    );
    expect(await store.settle(ended)).toEqual(["settled", "settled", "settled"]);
    expect(await store.get(jobs.map(({ id }) => ({ id })))).toEqual(["pruned", "pruned", "pruned"]);
    expect(await store.settle(ended)).toEqual(["settled", "settled", "settled"]);
    expect(await documents()).toHaveLength(1);
  });
});
