/**
 * The plain path of a job that is inserted, leased once and succeeds: it reads less than the other and
 * must come to the same. Whatever happens between its steps, the jobs are those of one worker, as they
 * are.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  mongodbDatabase,
  mongodbPlace,
  type MongodbDatabase,
} from "../../../../../test/servers/mongodb-place.ts";
import { intercepted } from "../../../../../test/servers/mongodb-world.ts";
import type { NewJob } from "../../core/job.ts";
import type { LeasedJob, Store } from "../../core/store.ts";
import { jobOf } from "../../testing/conformance/looking.ts";
import {
  insertAll,
  insertOne,
  key,
  newJob,
  newJobs,
  QUEUE,
} from "../../testing/conformance/new-job.ts";
import { cancelled, settle, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly, takeOne } from "../../testing/conformance/take.ts";
import { LONG_MS } from "../../testing/conformance/times.ts";
import { candidates, claim } from "./claim.ts";
import { Clock } from "./clock.ts";
import type { Database } from "./database.ts";
import type { DbLike } from "./driver-like.ts";
import { mongodbStore } from "./index.ts";
import { Refused } from "./packs/claim-fresh.ts";
import { clearFresh } from "./packs/fresh.ts";
import { PLACES } from "./line-walk.ts";
import { openDatabase } from "./open-database.ts";
import type { JobDocument } from "./schema.ts";

const NOW = Date.UTC(2031, 0, 1);
const WHY = { reason: "test", by: "test" };

let database: MongodbDatabase;
let store: Store;
let other: Store;
let db: Database;

beforeAll(async () => void (database = await mongodbDatabase()));
beforeEach(async () => {
  const now = (): number => NOW;
  store = mongodbStore({ db: database.db, now });
  other = mongodbStore({ db: database.db, now });
  await store.open();
  await other.open();
  const settings = { prefix: "holdfast_", deadlineMs: 10_000, remembersMs: 1_000 };
  ({ db } = await openDatabase({ place: { db: database.db }, clock: new Clock(now), ...settings }));
});
afterEach(async () => {
  await store.close();
  await other.close();
  await (await mongodbPlace(database)).dispose();
});
afterAll(() => database.drop());

async function mongodbProcess(place: DbLike): Promise<Store> {
  const opened = mongodbStore({ db: place, now: () => NOW });
  await opened.open();
  return opened;
}

/** One by one: each waits alone. */
async function insertedJobs(count: number): Promise<NewJob[]> {
  const jobs = newJobs(count);
  for (const job of jobs) await insertAll(store, [job]);
  return jobs;
}

async function look(jobs: number): Promise<readonly JobDocument[]> {
  const uncapped = { weight: null, room: Infinity, isCapped: false };
  const head = { _id: "", priority: 0, seq: 0 };
  const line = { group: "", head, places: PLACES, heldUntil: null, ...uncapped };
  const [found] = await candidates(db, QUEUE, {
    quotas: [{ line, jobs }],
    reach: { perDocument: 1 },
  });
  return found?.items ?? [];
}

/** Twice, as a lease does that gets less than it tried: what is refused for the first time is not looked at. */
async function claimAs(worker: string, found: readonly JobDocument[]): Promise<JobDocument[]> {
  const refused = new Refused();
  const own: JobDocument[] = [];
  for (let times = 0; times < 2; times += 1) {
    const taken: JobDocument[] = [];
    const onTaken = (jobs: readonly JobDocument[]): void => void taken.push(...jobs);
    const how = { queue: QUEUE, worker, leaseMs: LONG_MS, now: NOW, refused, onTaken };
    const left = found.filter(({ _id }) => !own.some((job) => job._id === _id));
    own.push(...(await claim(db, left, { ...how, isAlone: false })).jobs);
    await clearFresh(db, taken);
  }
  return own;
}

describe("between the look and the claim", () => {
  it("a job that was cancelled is not claimed", async () => {
    const [first, second] = await insertedJobs(2);
    const seen = await look(2);
    await store.cancel({ ids: [{ id: first?.id ?? "" }] }, WHY);
    expect((await claimAs("a", seen)).map(({ _id }) => _id)).toEqual([second?.id]);
  });

  it("a job that got another payload is not handed out with its old one", async () => {
    const job = await insertOne(store, { payload: '"old"' });
    const seen = await look(1);
    await store.cancel({ ids: [{ id: job.id }] }, WHY);
    const payload = { json: '"new"', hash: null };
    const how = { payload, attempts: 1, delayMs: 0, runAt: null };
    await store.revive({ ids: [{ id: job.id }] }, how, WHY);
    expect(await claimAs("a", seen)).toEqual([]);
    expect((await takeOne(store)).payload).toBe('"new"');
  });

  it("a job that was put off is not claimed before its time", async () => {
    const job = await insertOne(store);
    const seen = await look(1);
    await store.reschedule({ ids: [{ id: job.id }] }, { delayMs: LONG_MS, runAt: null }, WHY);
    expect(await claimAs("a", seen)).toEqual([]);
  });

  it("what others took is theirs, and the rest is leased whole", async () => {
    const jobs = await insertedJobs(150);
    const seen = await look(150);
    const a = await claimAs("a", seen.slice(0, 60));
    const b = await claimAs("b", seen);
    expect(a.map(({ _id }) => _id)).toEqual(jobs.slice(0, 60).map(({ id }) => id));
    expect(new Set(b.map(({ _id }) => _id))).toEqual(new Set(jobs.slice(60).map(({ id }) => id)));
    expect(b).toHaveLength(90);
    expect(await claimAs("c", seen)).toEqual([]);
    for (const { _id, fence, worker } of [...a, ...b]) {
      expect(await jobOf(store, { id: _id })).toMatchObject({ fence, worker, attempts: 1 });
    }
  });

  it("jobs with a past and fresh ones keep their order", async () => {
    const jobs = await insertedJobs(4);
    const [first] = await takeExactly(store, 3);
    await store.settle([{ ...(first as LeasedJob), outcome: { kind: "release", afterMs: 0 } }]);
    const ids = (await claimAs("a", await look(4))).map(({ _id }) => _id);
    expect(ids).toEqual([jobs[0]?.id, jobs[3]?.id]);
  });
});

describe("a plain success", () => {
  it("leaves the job as one that was thought about", async () => {
    const plain = await insertOne(store, { dedupe: key("a") });
    const thought = await insertOne(store, { dedupe: key("b") });
    const leased = await takeExactly(store, 2);
    expect(leased.map(({ handle }) => handle)).toEqual(["plain", "plain"]);
    const results = leased.map((job) => ({ ...job, outcome: succeed('"done"') }));
    await store.settle([results[0] as (typeof results)[0]]);
    await store.settle([{ ...(results[1] as (typeof results)[0]), handle: "" }]);
    const one = await jobOf(store, plain);
    expect(await jobOf(store, thought)).toEqual({ ...one, id: thought.id, dedupeKey: "b" });
    expect(one).toMatchObject({ status: "succeeded", attempts: 1, result: '"done"' });
  });

  it("that came so late that the server did not wait for a majority is confirmed before it is answered", async () => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const confirmed: string[] = [];
    const late = await mongodbProcess(
      intercepted(database, async ({ verb, collection }, run) => {
        const reply = await run();
        if (verb === "update" && collection === "jobs") {
          throw Object.assign(new Error("operation exceeded time limit"), { code: 50 });
        }
        if (verb === "bulk") confirmed.push(collection);
        return reply;
      }),
    );
    expect(await late.settle([{ ...leased, outcome: succeed() }])).toEqual(["settled"]);
    expect(confirmed).toEqual(["head"]);
    expect(await jobOf(store, job)).toMatchObject({ status: "succeeded" });
    await late.close();
  });

  it("that a failover undid after its answer was lost is settled by its repeat", async () => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const jobs = database.db.collection<{ _id: string }>("holdfast_jobs");
    const before = await jobs.find().toArray();
    const settlement = { ...leased, outcome: succeed() };
    expect(await store.settle([settlement])).toEqual(["settled"]);
    let undone = 0;
    const repeating = await mongodbProcess(
      intercepted(database, async ({ verb, collection }, run) => {
        if (verb === "bulk" && collection === "head") {
          undone += 1;
          for (const { _id, ...document } of before) await jobs.replaceOne({ _id }, document);
        }
        return run();
      }),
    );
    expect(await repeating.settle([settlement])).toEqual(["settled"]);
    expect(undone).toBe(1);
    expect(await jobOf(store, job)).toMatchObject({ status: "succeeded" });
    await repeating.close();
  });

  it("forgets that somebody asked it to cancel", async () => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    await store.cancel({ ids: [{ id: job.id }] }, WHY);
    await settle(store, leased, succeed());
    expect(await jobOf(store, job)).toMatchObject({ status: "succeeded", cancelAsked: false });
  });

  it("is no way past the fence", async () => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const forged = { ...leased, fence: leased.fence + 1, outcome: succeed() };
    expect(await store.settle([forged])).toEqual(["lost"]);
    expect(await jobOf(store, job)).toMatchObject({ status: "processing" });
  });

  it("frees a key that ends with its job", async () => {
    const dedupe = key("k", "until-finished");
    await insertOne(store, { dedupe });
    await settle(store, await takeOne(store), succeed());
    const [again] = await store.insert([newJob({ dedupe })]);
    expect(again?.outcome).toBe("added");
  });

  it("is only for the first attempt: a later one is put on record", async () => {
    const job = await insertOne(store);
    const failure = { category: "network", message: "m", stack: null, fingerprint: "f" } as const;
    const outcome = { kind: "retry", afterMs: 0, spend: true, failure } as const;
    await settle(store, await takeOne(store), outcome);
    await settle(store, await takeOne(store), succeed());
    const { history, error } = await jobOf(store, job);
    expect(history.map((one) => one.outcome)).toEqual(["failed", "succeeded"]);
    expect(error).toBeNull();
  });

  it("and another end of one job in the same call: the first counts", async () => {
    const job = await insertOne(store);
    const leased = await takeOne(store);
    const ends = [cancelled(), succeed()].map((outcome) => ({ ...leased, outcome }));
    expect(await store.settle(ends)).toEqual(["settled", "settled"]);
    expect(await jobOf(store, job)).toMatchObject({ status: "cancelled" });
  });
});

describe("what another process sets", () => {
  const bound = { queue: QUEUE, group: null };

  it("bounds the very next insert", async () => {
    await insertOne(store);
    await other.limit([{ ...bound, maxWaiting: 1 }]);
    expect((await store.insert([newJob()]))[0]?.outcome).toBe("full");
    await other.limit([{ ...bound, maxWaiting: null }]);
    expect((await store.insert([newJob()]))[0]?.outcome).toBe("added");
  });

  it("holds the very next lease", async () => {
    await insertAll(store, newJobs(3));
    expect((await store.lease(leaseRequest(1))).jobs).toHaveLength(1);
    const hold = { forMs: null, reason: "closed", by: null };
    await other.hold([{ ...bound, owner: "pause", hold }]);
    expect((await store.lease(leaseRequest(1))).jobs).toHaveLength(0);
  });
});

describe("a job that is enqueued again because the answer was lost", () => {
  it.each<[string, Partial<NewJob>, number | null]>([
    ["as it is", {}, null],
    ["in a queue with a bound", {}, 5],
    ["with a key", { dedupe: key("a") }, null],
    ["with a key, in a queue with a bound", { dedupe: key("a") }, 5],
  ])("is stored again if a failover undid the first: %s", async (_, about, maxWaiting) => {
    if (maxWaiting !== null) await store.limit([{ queue: QUEUE, group: null, maxWaiting }]);
    const job = newJob(about);
    await insertAll(store, [job]);
    let undone = 0;
    const undo = async (): Promise<void> => {
      undone += 1;
      for (const name of ["jobs", "fresh"]) {
        await database.db.collection(`holdfast_${name}`).deleteMany({});
      }
    };
    const repeating = await mongodbProcess(
      intercepted(database, async ({ verb, collection }, run) => {
        if (undone === 0 && verb === "bulk" && collection === "head") await undo();
        try {
          return await run();
        } finally {
          // A write that is refused is answered after a majority has what refused it: it did not.
          if (undone === 0 && verb === "insert" && collection === "jobs") await undo();
        }
      }),
    );
    await repeating.insert([job]);
    expect(undone).toBe(1);
    expect(await jobOf(store, job)).toMatchObject({ status: "queued" });
    await repeating.close();
  });
});
