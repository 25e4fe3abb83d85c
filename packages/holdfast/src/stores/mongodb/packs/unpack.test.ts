/**
 * What packs bring: jobs that share a document until something sets them apart. Whatever happens to one
 * of them, the others are as they would be alone, also if a process dies while it takes a pack apart.
 */
import assert from "node:assert/strict";
import { describe, expect, it } from "vitest";
import { Died, dyingAt, mongodbWorld } from "../../../../../../test/servers/mongodb-world.ts";
import type { NewJob } from "../../../core/job.ts";
import type { LeasedJob, Store } from "../../../core/store.ts";
import { countsOf, jobOf } from "../../../testing/conformance/looking.ts";
import { insertAll, newJobs, QUEUE } from "../../../testing/conformance/new-job.ts";
import { leaseRef, retry, settlement, succeed } from "../../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly } from "../../../testing/conformance/take.ts";
import { LONG_MS } from "../../../testing/conformance/times.ts";

const WHY = { reason: "test", by: "test" };
const HOUR_MS = 3_600_000;

const world = mongodbWorld();

async function packed(count: number): Promise<NewJob[]> {
  const jobs = newJobs(count);
  await insertAll(world.store, jobs);
  return jobs;
}

async function packsLeft(): Promise<number> {
  return (await world.documents("jobs")).filter((one) => "pack" in one).length;
}

function ids(jobs: readonly { readonly id: string }[]): string[] {
  return jobs.map(({ id }) => id);
}

/** At the n-th write to our jobs. */
async function dieAt(nth: number, work: (dying: Store) => Promise<unknown>): Promise<void> {
  const db = dyingAt(nth, world.database, ({ collection }) => collection === "jobs");
  const dying = await world.process(db);
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
      const leased = await takeExactly(world.store, 4);
      const retried = [settlement(leased[1] as LeasedJob, retry())];
      await dieAt(most, (dying) => dying.settle(retried));
      for (const job of jobs) expect((await jobOf(world.store, job)).status).toBe("processing");
      expect(await world.store.settle(retried)).toEqual(["settled"]);
      const others = leased.filter((_, index) => index !== 1);
      const ended = others.map((job) => settlement(job, succeed()));
      expect(await world.store.settle(ended)).toEqual(["settled", "settled", "settled"]);
      world.now += 6_000;
      await world.store.reap({ limit: 0 });
      expect(await countsOf(world.store)).toMatchObject({ ready: 1, processing: 0, succeeded: 3 });
      const results = await world.store.insert(jobs);
      expect(results.map(({ outcome }) => outcome)).toEqual(Array(4).fill("duplicate"));
    });

    it(`${when} keeps nobody from what its lease held`, async () => {
      const jobs = await packed(4);
      const leased = await takeExactly(world.store, 4);
      await dieAt(most, (dying) => dying.settle([settlement(leased[3] as LeasedJob, retry())]));
      world.now += 2 * LONG_MS;
      expect(ids(await world.store.reap({ limit: 10 })).sort()).toEqual(ids(jobs).sort());
      expect(await packsLeft()).toBe(0);
      expect(ids(await takeExactly(world.store, 4))).toEqual(ids(jobs));
    });
  }

  it("leaves it to a chore if nobody meets it", async () => {
    const jobs = await packed(3);
    const leased = await takeExactly(world.store, 3);
    await dieAt(2, (dying) => dying.settle([settlement(leased[0] as LeasedJob, retry())]));
    expect(await packsLeft()).toBe(1);
    world.now += 6_000;
    await world.store.reap({ limit: 0 });
    expect(await packsLeft()).toBe(0);
    const settled = leased.map((job) => settlement(job, succeed()));
    expect(await world.store.settle(settled)).toEqual(["settled", "settled", "settled"]);
    for (const job of jobs) expect((await jobOf(world.store, job)).status).toBe("succeeded");
  });
});

describe("a stub", () => {
  it("goes when the last of its jobs is forgotten", async () => {
    const jobs = await packed(2);
    await world.store.remove({ ids: jobs.map(({ id }) => ({ id })) }, WHY);
    world.now += 2 * HOUR_MS;
    await world.store.prune([], 10);
    world.now += 2 * HOUR_MS;
    await world.store.prune([], 10);
    expect(await world.documents("jobs")).toEqual([]);
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
          const page = await world.store.find({ queue: QUEUE }, { limit, order, cursor });
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
    const leased = await takeExactly(world.store, 4);
    world.now += 5;
    await world.store.settle(
      [leased[1], leased[2]].map((job) => settlement(job as LeasedJob, succeed())),
    );
    const of = async (status: "processing" | "succeeded"): Promise<string[]> =>
      ids((await world.store.find({ status: [status] }, { limit: 10, order: "oldest" })).jobs);
    expect(await of("succeeded")).toEqual([jobs[1]?.id, jobs[2]?.id]);
    expect(await of("processing")).toEqual([jobs[0]?.id, jobs[3]?.id]);
    expect(await countsOf(world.store)).toMatchObject({ ready: 0, processing: 2, succeeded: 2 });
    expect(await packsLeft()).toBe(1);
    const policy = { queue: QUEUE, status: "succeeded", olderThanMs: null, keep: 1 } as const;
    expect(await world.store.prune([policy], 10)).toBe(1);
    expect(await world.store.get([{ id: jobs[1]?.id ?? "" }])).toEqual(["pruned"]);
    expect(await countsOf(world.store)).toMatchObject({ processing: 2, succeeded: 1 });
  });
});

describe("jobs of one pack", () => {
  it("that end one after the other are settled once each, and remembered", async () => {
    await packed(3);
    const leased = await takeExactly(world.store, 3);
    for (const [index, job] of leased.entries()) {
      world.now += 10;
      const ended = settlement(job, succeed(String(index)));
      expect(await world.store.settle([ended])).toEqual(["settled"]);
      expect(await world.store.settle([ended])).toEqual(["settled"]);
      expect(await world.store.settle([{ ...ended, fence: job.fence + 1 }])).toEqual(["lost"]);
      expect(await jobOf(world.store, job)).toMatchObject({
        finishedAt: world.now,
        result: String(index),
      });
    }
    expect(await packsLeft()).toBe(1);
    expect(await countsOf(world.store)).toMatchObject({ processing: 0, succeeded: 3 });
  });

  it("are the same after a plain success as after one with thought", async () => {
    await packed(2);
    const leased = await takeExactly(world.store, 2);
    const [plain, other] = leased.map((job) => settlement(job, succeed('"done"')));
    assert.ok(plain && other);
    await world.store.settle([plain, other]);
    await packed(2);
    const again = (await takeExactly(world.store, 2)).map((job) =>
      settlement(job, succeed('"done"')),
    );
    await world.store.settle(again.map((one) => ({ ...one, handle: "" })));
    const strip = async ({ id }: { id: string }): Promise<object> => {
      const { id: _id, ...job } = await jobOf(world.store, { id });
      return job;
    };
    const [before, after] = [await strip(plain), await strip(again[0] as { id: string })];
    expect(after).toEqual({ ...before, fence: (after as { fence: number }).fence });
  });

  it("are taken one by one by whoever wants few, in their order", async () => {
    const jobs = await packed(5);
    for (const job of jobs)
      expect(ids((await world.store.lease(leaseRequest(1))).jobs)).toEqual([job.id]);
  });

  it("are leased no more than a cap has room for", async () => {
    const jobs = await packed(10);
    await world.store.limit([{ queue: QUEUE, group: null, maxActive: 4 }]);
    expect(ids((await world.store.lease(leaseRequest(10))).jobs)).toEqual(ids(jobs.slice(0, 4)));
    expect((await world.store.lease(leaseRequest(10))).jobs).toEqual([]);
  });

  it("count against a bound", async () => {
    await packed(5);
    await world.store.limit([{ queue: QUEUE, group: null, maxWaiting: 6 }]);
    const results = await world.store.insert(newJobs(2));
    expect(results.map(({ outcome }) => outcome)).toEqual(["added", "full"]);
  });

  it("are renewed each for itself", async () => {
    await packed(3);
    const leased = await takeExactly(world.store, 3);
    const [first] = leased as [LeasedJob];
    expect(await world.store.renew([leaseRef(first)], 10 * LONG_MS)).toEqual(["kept"]);
    world.now += 5 * LONG_MS;
    expect(ids(await world.store.reap({ limit: 10 }))).toEqual(ids(leased.slice(1)));
    expect(await world.store.renew(leased.map(leaseRef), LONG_MS)).toEqual([
      "kept",
      "lost",
      "lost",
    ]);
  });

  it("with large results do not outgrow their document", async () => {
    const jobs = await packed(16);
    const result = JSON.stringify("x".repeat(250_000));
    const leased = await takeExactly(world.store, 16);
    for (let start = 0; start < 16; start += 8) {
      const some = leased.slice(start, start + 8).map((job) => settlement(job, succeed(result)));
      expect(await world.store.settle(some)).toEqual(Array(8).fill("settled"));
    }
    for (const job of jobs) expect((await jobOf(world.store, job)).result).toBe(result);
  });

  it("that are not kept leave nothing but the memory of them", async () => {
    const jobs = await packed(3);
    const ended = (await takeExactly(world.store, 3)).map((job) =>
      settlement(job, succeed(), { discard: true }),
    );
    expect(await world.store.settle(ended)).toEqual(["settled", "settled", "settled"]);
    expect(await world.store.get(jobs.map(({ id }) => ({ id })))).toEqual([
      "pruned",
      "pruned",
      "pruned",
    ]);
    expect(await world.store.settle(ended)).toEqual(["settled", "settled", "settled"]);
    expect(await world.documents("jobs")).toHaveLength(1);
  });
});
