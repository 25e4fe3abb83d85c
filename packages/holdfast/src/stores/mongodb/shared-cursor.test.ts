/**
 * Processes that lease many jobs of one line at the same time part: each takes the next stretch of it. That
 * is a hint and no more, so nothing may depend on it: not who gets a job, nor that all are got.
 */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Died, intercepted, mongodbWorld } from "../../../../../test/servers/mongodb-world.ts";
import type { LeasedJob, Store } from "../../core/store.ts";
import { countsOf } from "../../testing/conformance/looking.ts";
import { insertAll, newJobs } from "../../testing/conformance/new-job.ts";
import { retry, settlement } from "../../testing/conformance/settling.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import type { Document } from "./driver-like.ts";

const PROCESSES = 4;
const MANY = 200;
const FIRST = 10;
const JOBS = 10_000;

const world = mongodbWorld();
let others: Store[];

beforeEach(async () => {
  const opening = Array.from({ length: PROCESSES }, () => world.process(world.database.db));
  others = await Promise.all(opening);
});
afterEach(() => Promise.all(others.map((store) => store.close())));

async function insertMany(count: number, priority = 100): Promise<void> {
  const jobs = newJobs(count, { priority });
  for (let at = 0; at < count; at += 500) await insertAll(world.store, jobs.slice(at, at + 500));
}

/** All at once, each once. */
async function leaseTogether(): Promise<LeasedJob[]> {
  const replies = await Promise.all(others.map((store) => store.lease(leaseRequest(MANY))));
  return replies.flatMap(({ jobs }) => jobs);
}

async function cursor(): Promise<Document | undefined> {
  return (await world.documents("head")).find((one) => "ends" in one);
}

/** Until they are in each other's way no more. */
async function leaseUntilParted(): Promise<LeasedJob[]> {
  const jobs: LeasedJob[] = [];
  for (let rounds = 0; (await cursor()) === undefined; rounds += 1) {
    assert.ok(rounds < 20, "four processes that lease at once are in each other's way");
    jobs.push(...(await leaseTogether()));
  }
  return jobs;
}

/** A part of what is there. */
async function leaseSoon(): Promise<LeasedJob[]> {
  const jobs: LeasedJob[] = [];
  for (let rounds = 0; rounds < 4; rounds += 1) jobs.push(...(await leaseTogether()));
  return jobs;
}

async function leaseAll(): Promise<LeasedJob[]> {
  const jobs: LeasedJob[] = [];
  for (let rounds = 0; rounds < 50; rounds += 1) {
    const more = await leaseTogether();
    if (more.length === 0) break;
    jobs.push(...more);
  }
  return jobs;
}

/** How many different ones. */
function different(jobs: readonly LeasedJob[]): number {
  return new Set(jobs.map(({ id }) => id)).size;
}

describe("processes that lease many jobs of one line at once", () => {
  it("part, and together they get every job once", async () => {
    await insertMany(JOBS);
    const jobs = [...(await leaseUntilParted()), ...(await leaseAll())];
    expect(jobs).toHaveLength(JOBS);
    expect(different(jobs)).toBe(JOBS);
    expect((await countsOf(world.store)).ready).toBe(0);
  });

  it("get those first that have a better priority", async () => {
    await insertMany(JOBS);
    await leaseUntilParted();
    await insertMany(50, FIRST);
    const jobs = await leaseSoon();
    expect(jobs.filter(({ priority }) => priority === FIRST)).toHaveLength(50);
  });

  it("go on with the next priority where one ends", async () => {
    await insertMany(2_000);
    await insertMany(2_000, 200);
    const jobs = [...(await leaseUntilParted()), ...(await leaseAll())];
    expect(different(jobs)).toBe(4_000);
  });

  it("take what comes back before what is ahead", async () => {
    await insertMany(JOBS);
    const [first] = await leaseUntilParted();
    assert.ok(first);
    await world.store.settle([settlement(first, retry())]);
    const jobs = await leaseSoon();
    expect(jobs.find(({ id }) => id === first.id)).toMatchObject({ attempt: 2 });
  });

  describe("of whom one has died with pieces in its hand", () => {
    let isDead: boolean;
    let leased: LeasedJob[];

    beforeEach(async () => {
      isDead = false;
      let isTooLate = false;
      leased = [];
      const leaseFirst = async (store: Store): Promise<void> => {
        leased.push(...(await store.lease(leaseRequest(MANY))).jobs);
      };
      const db = intercepted(world.database, async ({ collection }, run) => {
        if (isDead && collection === "jobs") throw new Died();
        if (isTooLate && collection === "jobs") {
          isTooLate = false;
          await leaseFirst(world.store);
        }
        return run();
      });
      const mortal = await world.process(db);
      await insertMany(JOBS);
      leased.push(...(await leaseUntilParted()));
      const turnOf = async (): Promise<unknown> => (await cursor())?.["turn"];
      for (let rounds = 0, isParted = false; !isParted; rounds += 1) {
        assert.ok(rounds < 12, "it is one of those who part");
        // Whoever finds that somebody else was quicker takes pieces from then on, mostly.
        isDead = false;
        isTooLate = true;
        await leaseFirst(mortal);
        const before = await turnOf();
        isDead = true;
        await expect(mortal.lease(leaseRequest(MANY))).rejects.toThrow(Died);
        isParted = (await turnOf()) !== before;
      }
      await mortal.close();
    });

    it("take what it has left", async () => {
      for (let rounds = 0; leased.length < JOBS && rounds < 60; rounds += 1) {
        world.now += 300;
        leased.push(...(await leaseTogether()));
      }
      expect(different(leased)).toBe(JOBS);
    });

    it("take it also if others always come behind it", async () => {
      const first = new Set((await world.documents("fresh")).map(({ _id }) => _id));
      for (let rounds = 0; rounds < 40; rounds += 1) {
        world.now += 300;
        await insertMany(PROCESSES * MANY);
        await leaseTogether();
      }
      const left = (await world.documents("fresh")).filter(({ _id }) => first.has(_id));
      expect(left).toEqual([]);
    });
  });
});
