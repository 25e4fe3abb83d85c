/**
 * Fresh jobs wait in a collection of their own, and an id is unique over both: whoever comes first, and
 * wherever a process dies between the two.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  mongodbDatabase,
  mongodbPlace,
  type MongodbDatabase,
} from "../../../test/servers/mongodb-place.ts";
import type { NewJob } from "../../core/job.ts";
import type { Store } from "../../core/store.ts";
import { countsOf, jobOf } from "../../testing/conformance/looking.ts";
import { insertAll, newJobs, QUEUE } from "../../testing/conformance/new-job.ts";
import { settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly } from "../../testing/conformance/take.ts";
import { LONG_MS } from "../../testing/conformance/times.ts";
import type { DbLike, Document } from "./driver-like.ts";
import { mongodbStore } from "./index.ts";

const WHY = { reason: "test", by: "test" };
const START = Date.UTC(2031, 0, 1);
const HOUR_MS = 3_600_000;
const HOLD = { forMs: null, reason: "closed", by: null };

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

async function inserted(count: number): Promise<NewJob[]> {
  const jobs = newJobs(count);
  await insertAll(store, jobs);
  return jobs;
}

/** What waits to be leased, by documents. */
function waiting(): Promise<Document[]> {
  return database.db.collection("holdfast_fresh").find({}).toArray();
}

function ids(jobs: readonly { readonly id: string }[]): string[] {
  return jobs.map(({ id }) => id);
}

/** A database on which these commands do nothing. */
function deafTo(name: string): DbLike {
  const { db } = database;
  return {
    databaseName: db.databaseName,
    createCollection: (collection, options) => db.createCollection(collection, options),
    command: async (command, options) =>
      name in command ? { ok: 1, n: 0 } : db.command(command, options),
    collection(collection, options) {
      const inner = db.collection(collection, options);
      if (collection !== "holdfast_fresh") return inner as never;
      return new Proxy(inner, {
        get: (target, key) => {
          if (key === "bulkWrite") return async () => ({ matchedCount: 0, insertedCount: 0 });
          const value: unknown = Reflect.get(target, key);
          return typeof value === "function" ? value.bind(target) : value;
        },
      }) as never;
    },
  };
}

describe("a process that dies after it has leased fresh jobs", () => {
  const LATE = { leaseMs: LONG_MS };

  /** The pack is written, and what waited is not cleared. */
  async function leaseAndDie(limit: number): Promise<void> {
    const dying = mongodbStore({ db: deafTo("delete"), now: () => now });
    await dying.open();
    await dying.lease(leaseRequest(limit, LATE));
    await dying.close();
  }

  it("leaves nothing that is leased twice, and nothing behind", async () => {
    const jobs = await inserted(6);
    await leaseAndDie(3);
    expect(ids(await takeExactly(store, 3))).toEqual(ids(jobs.slice(3)));
    expect(await waiting()).toEqual([]);
    now += 2 * LONG_MS;
    expect(await store.reap({ limit: 10 })).toHaveLength(6);
    expect(await waiting()).toEqual([]);
    expect(await countsOf(store)).toMatchObject({ ready: 6, processing: 0 });
    expect(ids(await takeExactly(store, 6))).toEqual(ids(jobs));
  });

  it("leaves nothing that is a job again once it is forgotten", async () => {
    const jobs = await inserted(2);
    await leaseAndDie(2);
    const [first] = jobs as [NewJob];
    now += 2 * LONG_MS;
    await store.hold([{ queue: QUEUE, group: "", owner: "pause", hold: HOLD }]);
    await store.reap({ limit: 10 });
    await store.remove({ ids: jobs.map(({ id }) => ({ id })) }, WHY);
    now += 2 * HOUR_MS;
    await store.prune([], 10);
    await store.hold([{ queue: QUEUE, group: "", owner: "pause", hold: null }]);
    expect((await store.lease(leaseRequest(10))).jobs).toEqual([]);
    expect(await store.insert([first])).toMatchObject([{ outcome: "added" }]);
    expect(ids(await takeExactly(store, 1))).toEqual([first.id]);
  });

  it("lets the line go on: who comes upon it clears it", async () => {
    const [first] = await inserted(1);
    await leaseAndDie(1);
    const [second] = await inserted(1);
    expect(ids(await takeExactly(store, 1))).toEqual([second?.id]);
    expect(await waiting()).toEqual([]);
    expect((await jobOf(store, first as NewJob)).status).toBe("processing");
  });
});

describe("an insert that is repeated", () => {
  const duplicates = (count: number): string[] => Array<string>(count).fill("duplicate");
  const outcomes = async (jobs: readonly NewJob[]): Promise<string[]> =>
    (await store.insert(jobs)).map(({ outcome }) => outcome);

  it("is refused, alone and in any company", async () => {
    const jobs = await inserted(4);
    const [first, second, third] = jobs as [NewJob, NewJob, NewJob];
    expect(await outcomes(jobs)).toEqual(duplicates(4));
    expect(await outcomes([second])).toEqual(duplicates(1));
    const [before, behind] = newJobs(2) as [NewJob, NewJob];
    expect(await outcomes([before, third, first, behind])).toEqual([
      "added",
      ...duplicates(2),
      "added",
    ]);
    expect(await outcomes([{ ...second, delayMs: 50 }])).toEqual(duplicates(1));
    expect((await countsOf(store)).ready).toBe(6);
  });

  it("is refused among others if it came alone before", async () => {
    const [first, second, third] = newJobs(3) as [NewJob, NewJob, NewJob];
    await insertAll(store, [second]);
    expect(await outcomes([first, second, third])).toEqual(["added", "duplicate", "added"]);
    expect((await countsOf(store)).ready).toBe(3);
  });

  it("is refused while it is remembered, and a new job after that", async () => {
    const jobs = await inserted(3);
    const [first] = jobs as [NewJob];
    await store.remove({ ids: [{ id: first.id }] }, WHY);
    expect(await store.insert([first])).toMatchObject([{ status: "pruned" }]);
    now += 2 * HOUR_MS;
    await store.prune([], 10);
    expect(await outcomes([first])).toEqual(["added"]);
    expect(await outcomes(jobs)).toEqual(duplicates(3));
  });

  it("is refused while a pack that was pruned whole is remembered", async () => {
    const jobs = await inserted(3);
    const settled = (await takeExactly(store, 3)).map((job) => settlement(job, succeed()));
    await store.settle(settled);
    now += 1_000;
    const policy = { queue: QUEUE, status: "succeeded", olderThanMs: 10, keep: null } as const;
    expect(await store.prune([policy], 10)).toBe(3);
    expect(await store.get(jobs.map(({ id }) => ({ id })))).toEqual(["pruned", "pruned", "pruned"]);
    expect(await outcomes(jobs)).toEqual(duplicates(3));
    expect(await store.settle(settled)).toEqual(["settled", "settled", "settled"]);
    now += 2 * HOUR_MS;
    expect(await outcomes(jobs)).toEqual(["added", "added", "added"]);
  });

  it("makes one job of it, also if the first try arrives after the second", async () => {
    const jobs = newJobs(3);
    expect(await outcomes(jobs)).toEqual(["added", "added", "added"]);
    const late = await store.insert(jobs, { areNew: true });
    expect(late.map(({ outcome }) => outcome)).toEqual(["added", "added", "added"]);
    expect(ids(await takeExactly(store, 3))).toEqual(ids(jobs));
    expect((await store.lease(leaseRequest(3))).jobs).toEqual([]);
    expect(await waiting()).toEqual([]);
    expect(await countsOf(store)).toMatchObject({ ready: 0, processing: 3 });
  });

  it("makes one job of each, however many come at once", async () => {
    const jobs = newJobs(6) as [NewJob, ...NewJob[]];
    const calls = [jobs, jobs.slice(3), [jobs[0]], jobs.toReversed(), jobs.slice(0, 2), jobs];
    const all = (await Promise.all(calls.map((call) => store.insert(call)))).flat();
    expect(all.filter(({ outcome }) => outcome === "added")).toHaveLength(6);
    expect((await countsOf(store)).ready).toBe(6);
    expect(new Set(ids(await takeExactly(store, 6))).size).toBe(6);
  });
});
