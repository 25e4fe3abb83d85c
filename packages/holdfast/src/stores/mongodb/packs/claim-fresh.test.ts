/**
 * Packs that are refused, because somebody has one of their jobs: a caller who seems to be alone looks which, and
 * one among others leaves to the others what they have, and takes what is beside it.
 */
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { intercepted, mongodbWorld } from "../../../../../../test/servers/mongodb-world.ts";
import type { NewJob } from "../../../core/job.ts";
import { uuidV7 } from "../../../core/uuid.ts";
import { countsOf } from "../../../testing/conformance/looking.ts";
import { idsOf, insertAll, newJob, QUEUE } from "../../../testing/conformance/new-job.ts";
import { leaseRequest, takeExactly } from "../../../testing/conformance/take.ts";
import { LONG_MS } from "../../../testing/conformance/times.ts";
import { Clock } from "../clock.ts";
import type { Database } from "../database.ts";
import { openDatabase } from "../open-database.ts";
import type { FreshPack, JobDocument } from "../schema.ts";
import { claimFresh, Refused } from "./claim-fresh.ts";
import { clearFresh, freshJobs } from "./fresh.ts";

const WHY = { reason: "test", by: "test" };
const HOUR_MS = 3_600_000;
const HOLD = { forMs: null, reason: "closed", by: null };

const world = mongodbWorld();

/** Their ids are of one moment, and in the order of the jobs. */
async function inserted(count: number): Promise<NewJob[]> {
  const now = Date.now();
  const ids = Array.from({ length: count }, () => uuidV7(now, randomBytes(10))).toSorted();
  const jobs = ids.map((id) => newJob({ id }));
  await insertAll(world.store, jobs);
  return jobs;
}

/** By a process that dies before it has cleared what it took. */
async function leaseAndDie(limit: number): Promise<void> {
  const db = intercepted(world.database, async ({ verb, collection }, run) => {
    const isLost = collection === "fresh" && (verb === "delete" || verb === "bulk");
    return isLost ? { ok: 1, n: 0 } : run();
  });
  const dying = await world.process(db);
  await dying.lease(leaseRequest(limit, { leaseMs: LONG_MS }));
  await dying.close();
}

describe("a lease that comes upon a job that was left over", () => {
  it("takes what stands beside it at once, and does not pass it by for what comes later", async () => {
    const jobs = await inserted(100);
    await leaseAndDie(1);
    const { jobs: leased } = await world.store.lease(leaseRequest(100));
    expect(idsOf(leased)).toEqual(idsOf(jobs.slice(1)));
    expect(await countsOf(world.store)).toMatchObject({ ready: 0, processing: 100 });
  });

  it("goes on past one whose memory has ended, and clears it", async () => {
    const jobs = await inserted(3);
    await leaseAndDie(1);
    await world.store.hold([{ queue: QUEUE, group: "", owner: "pause", hold: HOLD }]);
    world.now += 2 * LONG_MS;
    // Its own process would clear it: so it is removed as if it had been put back by one that died.
    const dying = await world.process(
      intercepted(world.database, async ({ collection, verb }, run) =>
        collection === "fresh" && verb !== "insert" ? { ok: 1, n: 0 } : run(),
      ),
    );
    await dying.reap({ limit: 10 });
    await dying.remove({ ids: [{ id: jobs[0]?.id ?? "" }] }, WHY);
    await dying.close();
    world.now += 2 * HOUR_MS;
    await world.store.hold([{ queue: QUEUE, group: "", owner: "pause", hold: null }]);
    expect(idsOf(await takeExactly(world.store, 2))).toEqual(idsOf(jobs.slice(1)));
    expect(await countsOf(world.store)).toMatchObject({ ready: 0, processing: 2 });
    expect(await world.documents("fresh")).toEqual([]);
  });
});

describe("among others", () => {
  let db: Database;

  beforeEach(async () => {
    const place = { db: world.database.db };
    const settings = { prefix: "holdfast_", deadlineMs: 10_000, remembersMs: 1_000 };
    ({ db } = await openDatabase({ place, clock: new Clock(() => world.now), ...settings }));
  });
  // What was claimed here waits to be cleared.
  afterEach(async () => clearFresh(db, await seen()));

  async function seen(): Promise<JobDocument[]> {
    const documents = (await world.documents("fresh")) as unknown as FreshPack[];
    return documents.toSorted((a, b) => a._id - b._id).flatMap(freshJobs);
  }

  async function claimOnce(jobs: readonly JobDocument[], refused: Refused) {
    const own: JobDocument[] = [];
    const taken: JobDocument[] = [];
    const onTaken = (some: readonly JobDocument[]): void => void taken.push(...some);
    const now = world.now;
    const started = { status: "processing", leased: QUEUE, leaseUntil: now + LONG_MS };
    const lease = { v: "v", worker: "w", fence: 1, ...started };
    await claimFresh(db, jobs, { lease, now, refused, isAlone: false, onTaken, own });
    return { own: own.map(({ _id }) => _id), cleared: taken.map(({ _id }) => _id) };
  }

  it("what is refused for one job is taken without it, and that one is looked at when it is met again", async () => {
    const jobs = await inserted(20);
    const found = await seen();
    const { id = "" } = jobs[7] ?? {};
    await world.store.cancel({ ids: [{ id }] }, WHY);
    const refused = new Refused();
    const others = idsOf(jobs).filter((one) => one !== id);
    const { own, cleared } = await claimOnce(found, refused);
    expect(own.toSorted()).toEqual(others);
    expect(cleared).not.toContain(id);
    const left = found.filter(({ _id }) => _id === id);
    expect(await claimOnce(left, refused)).toEqual({ own: [], cleared: [id] });
  });

  it("what somebody has as a whole is passed by, and looked at when it is met again", async () => {
    const jobs = await inserted(20);
    const found = await seen();
    await claimOnce(found, new Refused());
    const refused = new Refused();
    expect(await claimOnce(found, refused)).toEqual({ own: [], cleared: [] });
    expect(await claimOnce(found, refused)).toEqual({ own: [], cleared: idsOf(jobs) });
  });
});
