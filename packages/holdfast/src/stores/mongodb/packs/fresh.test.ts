/**
 * Fresh jobs wait in a collection of their own, and an id is unique over both: whoever comes first, and
 * wherever a process dies between the two.
 */
import { randomBytes } from "node:crypto";
import { MongoClient } from "mongodb";
import { describe, expect, it } from "vitest";
import { intercepted, mongodbWorld } from "../../../../../../test/servers/mongodb-world.ts";
import { serverUrl } from "../../../../../../test/servers/server-desk.ts";
import type { NewJob } from "../../../core/job.ts";
import type { LeasedJob } from "../../../core/store.ts";
import { uuidV7 } from "../../../core/uuid.ts";
import { countsOf, jobOf } from "../../../testing/conformance/looking.ts";
import { insertAll, newJob, newJobs, QUEUE } from "../../../testing/conformance/new-job.ts";
import { retry, settlement, succeed } from "../../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly } from "../../../testing/conformance/take.ts";
import { LONG_MS } from "../../../testing/conformance/times.ts";
import type { Document } from "../driver-like.ts";

const WHY = { reason: "test", by: "test" };
const HOUR_MS = 3_600_000;
const HOLD = { forMs: null, reason: "closed", by: null };

const world = mongodbWorld();

/** Their ids are of one moment: else they may not share their documents. */
async function inserted(count: number): Promise<NewJob[]> {
  const now = Date.now();
  const jobs = newJobs(count).map((job) => ({ ...job, id: uuidV7(now, randomBytes(10)) }));
  await insertAll(world.store, jobs);
  return jobs;
}

/** What waits to be leased, by documents. */
function waiting(): Promise<Document[]> {
  return world.documents("fresh");
}

function ids(jobs: readonly { readonly id: string }[]): string[] {
  return jobs.map(({ id }) => id);
}

describe("a lease of many fresh jobs", () => {
  it("takes whole documents, and leaves none in part", async () => {
    const jobs = await inserted(200);
    const { jobs: leased } = await world.store.lease(leaseRequest(130));
    expect(ids(leased)).toEqual(ids(jobs.slice(0, 100)));
    // Whoever counts waits until what was taken is cleared.
    expect(await countsOf(world.store)).toMatchObject({ ready: 100, processing: 100 });
    expect(await waiting()).toMatchObject([{ n: 50 }, { n: 50 }]);
  });

  it("is exact if it is not so many", async () => {
    const jobs = await inserted(100);
    expect(ids(await takeExactly(world.store, 60))).toEqual(ids(jobs.slice(0, 60)));
    expect(ids(await takeExactly(world.store, 40))).toEqual(ids(jobs.slice(60)));
  });

  it("is content with most of them, one of each line, and says that there are more", async () => {
    const lines = Array.from({ length: 120 }, (_, line) => `line-${String(line).padStart(3, "0")}`);
    await insertAll(
      world.store,
      [...lines, ...lines].map((group) => newJob({ group })),
    );
    const { jobs, nextInMs } = await world.store.lease(leaseRequest(150));
    expect(jobs.map(({ group }) => group)).toEqual(lines);
    expect(nextInMs).toBe(0);
    expect((await takeExactly(world.store, 120)).map(({ group }) => group)).toEqual(lines);
  });
});

describe("a process that dies after it has leased fresh jobs", () => {
  const LATE = { leaseMs: LONG_MS };

  /** The pack is written, and what waited is not cleared. */
  async function leaseAndDie(limit: number): Promise<LeasedJob[]> {
    const db = intercepted(world.database, async ({ verb, collection }, run) => {
      const isLost = collection === "fresh" && (verb === "delete" || verb === "bulk");
      return isLost ? { ok: 1, n: 0 } : run();
    });
    const dying = await world.process(db);
    const { jobs } = await dying.lease(leaseRequest(limit, LATE));
    await dying.close();
    return [...jobs];
  }

  it("leaves nothing that is leased twice, and nothing behind", async () => {
    const jobs = await inserted(6);
    await leaseAndDie(3);
    expect(ids(await takeExactly(world.store, 3))).toEqual(ids(jobs.slice(3)));
    expect(await waiting()).toEqual([]);
    world.now += 2 * LONG_MS;
    expect(await world.store.reap({ limit: 10 })).toHaveLength(6);
    expect(await waiting()).toEqual([]);
    expect(await countsOf(world.store)).toMatchObject({ ready: 6, processing: 0 });
    expect(ids(await takeExactly(world.store, 6))).toEqual(ids(jobs));
  });

  it("leaves nothing that is leased twice by one call, if it is ready again before it is cleared", async () => {
    const jobs = await inserted(3);
    const leased = await leaseAndDie(3);
    await world.store.settle(leased.map((job) => settlement(job, retry())));
    expect(await waiting()).toHaveLength(1);
    const again = await takeExactly(world.store, 3);
    expect(ids(again)).toEqual(ids(jobs));
    expect(again.map(({ attempt }) => attempt)).toEqual([2, 2, 2]);
  });

  it("leaves nothing that is a job again once it is forgotten", async () => {
    const jobs = await inserted(2);
    await leaseAndDie(2);
    const [first] = jobs as [NewJob];
    world.now += 2 * LONG_MS;
    await world.store.hold([{ queue: QUEUE, group: "", owner: "pause", hold: HOLD }]);
    await world.store.reap({ limit: 10 });
    await world.store.remove({ ids: jobs.map(({ id }) => ({ id })) }, WHY);
    world.now += 2 * HOUR_MS;
    await world.store.prune([], 10);
    await world.store.hold([{ queue: QUEUE, group: "", owner: "pause", hold: null }]);
    expect((await world.store.lease(leaseRequest(10))).jobs).toEqual([]);
    expect(await world.store.insert([first])).toMatchObject([{ outcome: "added" }]);
    expect(ids(await takeExactly(world.store, 1))).toEqual([first.id]);
  });

  it("leaves nothing that is a job again, also if what clears it is lost with a primary", async () => {
    const jobs = await inserted(2);
    await leaseAndDie(2);
    world.now += 2 * LONG_MS;
    await world.store.hold([{ queue: QUEUE, group: "", owner: "pause", hold: HOLD }]);
    const lossy = await world.process(
      intercepted(world.database, async ({ verb, collection }, run) => {
        const isLost = collection === "fresh" && verb === "delete";
        return isLost ? { ok: 1, n: 0 } : run();
      }),
    );
    await lossy.reap({ limit: 10 });
    await lossy.remove({ ids: jobs.map(({ id }) => ({ id })) }, WHY);
    world.now += 2 * HOUR_MS;
    await lossy.prune([], 10);
    await lossy.close();
    await world.store.hold([{ queue: QUEUE, group: "", owner: "pause", hold: null }]);
    expect((await world.store.lease(leaseRequest(10))).jobs).toEqual([]);
    for (let times = 0; times < 2; times += 1) await world.store.prune([], 10);
    expect(await world.documents("fresh")).toEqual([]);
    expect(await world.store.get(jobs.map(({ id }) => ({ id })))).toEqual([null, null]);
  });

  it("lets the line go on: who comes upon it clears it", async () => {
    const [first] = await inserted(1);
    await leaseAndDie(1);
    const [second] = await inserted(1);
    expect(ids(await takeExactly(world.store, 1))).toEqual([second?.id]);
    expect(await waiting()).toEqual([]);
    expect((await jobOf(world.store, first as NewJob)).status).toBe("processing");
  });
});

describe("a look for very many jobs", () => {
  it("asks for those of few moments at a time, and for none that are older than all that wait", async () => {
    const client = new MongoClient(await serverUrl("mongodb-standalone"), {
      monitorCommands: true,
    });
    const asked: number[] = [];
    client.on("commandStarted", ({ command }) => {
      if (command["find"] !== "holdfast_fresh") return;
      const { $or } = command["filter"] as { readonly $or?: readonly unknown[] };
      asked.push($or?.length ?? 1);
    });
    const store = await world.process(client.db(world.database.db.databaseName));
    const since = Date.now();
    const all = Array.from({ length: 1_000 }, (_, at) =>
      newJob({ id: uuidV7(since + 20 * at, randomBytes(10)) }),
    );
    await insertAll(world.store, all.slice(500));
    const found = await store.get(all);
    expect(found.map((job) => job !== null)).toEqual(all.map((_, at) => at >= 500));
    expect(Math.max(...asked)).toBeLessThanOrEqual(200);
    expect(asked.reduce((sum, ways) => sum + ways, 0)).toBeLessThanOrEqual(502);
    await store.close();
    await client.close();
  });
});

describe("an insert that is repeated", () => {
  const duplicates = (count: number): string[] => Array<string>(count).fill("duplicate");
  const outcomes = async (jobs: readonly NewJob[]): Promise<string[]> =>
    (await world.store.insert(jobs)).map(({ outcome }) => outcome);

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
    expect((await countsOf(world.store)).ready).toBe(6);
  });

  it("is refused among others if it came alone before", async () => {
    const [first, second, third] = newJobs(3) as [NewJob, NewJob, NewJob];
    await insertAll(world.store, [second]);
    expect(await outcomes([first, second, third])).toEqual(["added", "duplicate", "added"]);
    expect((await countsOf(world.store)).ready).toBe(3);
  });

  it("is refused while it is remembered, and a new job after that", async () => {
    const jobs = await inserted(3);
    const [first] = jobs as [NewJob];
    await world.store.remove({ ids: [{ id: first.id }] }, WHY);
    expect(await world.store.insert([first])).toMatchObject([{ status: "pruned" }]);
    world.now += 2 * HOUR_MS;
    await world.store.prune([], 10);
    expect(await outcomes([first])).toEqual(["added"]);
    expect(await outcomes(jobs)).toEqual(duplicates(3));
  });

  it("is refused while a pack that was pruned whole is remembered", async () => {
    const jobs = await inserted(3);
    const settled = (await takeExactly(world.store, 3)).map((job) => settlement(job, succeed()));
    await world.store.settle(settled);
    world.now += 1_000;
    const policy = { queue: QUEUE, status: "succeeded", olderThanMs: 10, keep: null } as const;
    expect(await world.store.prune([policy], 10)).toBe(3);
    expect(await world.store.get(jobs.map(({ id }) => ({ id })))).toEqual([
      "pruned",
      "pruned",
      "pruned",
    ]);
    expect(await outcomes(jobs)).toEqual(duplicates(3));
    expect(await world.store.settle(settled)).toEqual(["settled", "settled", "settled"]);
    world.now += 2 * HOUR_MS;
    expect(await outcomes(jobs)).toEqual(["added", "added", "added"]);
  });

  it("makes one job of it, also if the first try arrives after the second", async () => {
    const jobs = newJobs(3);
    expect(await outcomes(jobs)).toEqual(["added", "added", "added"]);
    const late = await world.store.insert(jobs, { areNew: true });
    expect(late.map(({ outcome }) => outcome)).toEqual(["added", "added", "added"]);
    expect(ids(await takeExactly(world.store, 3))).toEqual(ids(jobs));
    expect((await world.store.lease(leaseRequest(3))).jobs).toEqual([]);
    expect(await waiting()).toEqual([]);
    expect(await countsOf(world.store)).toMatchObject({ ready: 0, processing: 3 });
  });

  it("makes one job of each, however many come at once", async () => {
    const jobs = newJobs(6) as [NewJob, ...NewJob[]];
    const calls = [jobs, jobs.slice(3), [jobs[0]], jobs.toReversed(), jobs.slice(0, 2), jobs];
    const all = (await Promise.all(calls.map((call) => world.store.insert(call)))).flat();
    expect(all.filter(({ outcome }) => outcome === "added")).toHaveLength(6);
    expect((await countsOf(world.store)).ready).toBe(6);
    expect(new Set(ids(await takeExactly(world.store, 6))).size).toBe(6);
  });
});
