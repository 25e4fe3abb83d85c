import { describe, expect, it } from "vitest";
import {
  A_DAY_MS,
  MINUTE_MS,
  NOW,
  STRETCH,
  StretchWorld,
  WHY,
} from "../../../../../test/servers/stretch-world.ts";
import { adoptedJob, insertSome, newJobs, QUEUE } from "../../testing/conformance/new-job.ts";
import { FAILURE, settlement, succeed } from "../../testing/conformance/settling.ts";
import { take } from "../../testing/conformance/take.ts";

const fleet = new StretchWorld();

describe("stretches", () => {
  it("are cut when enough has gathered, and sealed once they are settled and upkeep was about for an hour", async () => {
    await fleet.past(95);
    // One look has half a second, which a busy machine may need for less than all of them.
    for (let look = 0; look < 20 && (await fleet.stretches()).length < 9; look += 1) {
      await fleet.store.reap({ limit: 1 });
    }
    expect((await fleet.stretches()).length).toBe(9);
    await fleet.upkeep(2 / 3);
    expect(await fleet.sealedOnes()).toEqual([]);
    await fleet.expectRight();
    await fleet.upkeep(1);
    expect((await fleet.sealedOnes()).map(({ sum }) => sum?.documents)).toEqual(Array(9).fill(10));
    await fleet.expectRight();
  });

  it("say how many dead jobs of each kind they have, and which is the newest", async () => {
    const auth = { ...FAILURE, category: "auth", fingerprint: "f2" } as const;
    await fleet.past(30, { status: "dead", queue: "a", group: "g" });
    await fleet.past(30, { status: "dead", queue: "b", type: "x", error: auth });
    await fleet.past(5, { status: "dead", error: null });
    await fleet.upkeep(2);
    expect((await fleet.sealedOnes()).length).toBeGreaterThan(2);
    await fleet.expectRight();
    const ofQueue = await fleet.store.countDead({ by: "fingerprint", queue: "b", limit: 10 });
    expect(ofQueue).toMatchObject([{ key: "f2", count: 30 }]);
    const most = await fleet.store.countDead({ by: "fingerprint", limit: 2 });
    expect(most.map(({ count }) => count)).toEqual([30, 30]);
  });

  it("are unsealed by whoever revives, removes, prunes or adopts a job in them, and sealed again", async () => {
    const jobs = await fleet.past(100, { status: "dead" });
    await fleet.upkeep(2);
    expect((await fleet.sealedOnes()).length).toBe(10);
    await fleet.store.revive({ ids: [{ id: jobs[15]?.id ?? "" }] }, NOW, WHY);
    await fleet.expectRight();
    await fleet.store.remove(
      { ids: [{ id: jobs[35]?.id ?? "" }, { id: jobs[36]?.id ?? "" }] },
      WHY,
    );
    await fleet.expectRight();
    const finishedAt = jobs[55]?.finishedAt ?? 0;
    await fleet.store.adopt([adoptedJob({ status: "dead", finishedAt })]);
    await fleet.expectRight();
    expect((await fleet.sealedOnes()).length).toBe(7);
    const olderThanMs = fleet.world.now - (jobs[4]?.finishedAt ?? 0);
    await fleet.store.prune([{ queue: null, status: "dead", olderThanMs, keep: null }], 100);
    await fleet.expectRight();
    expect((await fleet.sealedOnes()).length).toBe(6);
    await fleet.upkeep(1 / 3);
    await fleet.upkeep(1 / 3);
    expect((await fleet.sealedOnes()).length).toBe(10);
    await fleet.expectRight();
    expect(await fleet.deadNow()).toBe(100 - 1 - 2 + 1 - 5);
  });

  it("keep retention by count right", async () => {
    await fleet.past(60);
    await fleet.upkeep(2);
    await fleet.past(20, { queue: "other" });
    expect(
      await fleet.store.prune(
        [{ queue: QUEUE, status: "succeeded", olderThanMs: null, keep: 25 }],
        100,
      ),
    ).toBe(35);
    await fleet.expectRight();
    expect((await fleet.store.count()).find(({ queue }) => queue === QUEUE)?.succeeded).toBe(25);
  });

  it("decide nothing about retention: another build may have removed jobs", async () => {
    const jobs = await fleet.past(60);
    await fleet.upkeep(2);
    const gone = jobs.slice(0, 20).map(({ id }) => id as never);
    await fleet.world.database.db.collection("holdfast_jobs").deleteMany({ _id: { $in: gone } });
    const keep = { queue: null, status: "succeeded", olderThanMs: null, keep: 40 } as const;
    expect(await fleet.store.prune([keep], 100)).toBe(0);
  });

  it("count the jobs of packs, and wait for packs that have partly ended", async () => {
    for (let round = 0; round < STRETCH; round++) {
      fleet.world.now += 1;
      await fleet.store.insert(newJobs(4), { areNew: true });
      const leased = await take(fleet.store, 4, { leaseMs: 2 * A_DAY_MS });
      const ended = round === 3 ? leased.slice(1) : leased;
      await fleet.store.settle(ended.map((job) => settlement(job, succeed())));
    }
    await fleet.upkeep(2);
    expect((await fleet.stretches()).length).toBe(0);
    await fleet.past(STRETCH);
    await insertSome(fleet.store, 1);
    await fleet.upkeep(2);
    expect((await fleet.stretches()).length).toBeGreaterThan(0);
    await fleet.expectRight();
    expect((await fleet.store.count())[0]).toMatchObject({ processing: 1, succeeded: 49 });
  });

  it("are unsealed before a pack in them is taken apart, and before it is pruned whole", async () => {
    for (let round = 0; round < 2 * STRETCH; round++) {
      fleet.world.now += MINUTE_MS;
      await fleet.store.insert(newJobs(4), { areNew: true });
      const leased = await take(fleet.store, 4);
      await fleet.store.settle(leased.map((job) => settlement(job, succeed())));
    }
    await fleet.upkeep(2);
    expect((await fleet.sealedOnes()).map(({ sum }) => sum?.documents)).toEqual([10, 10]);
    const [oldest, newest] = [
      (await fleet.store.find({}, { limit: 1, order: "oldest" })).jobs[0],
      (await fleet.store.find({}, { limit: 1 })).jobs[0],
    ];
    await fleet.store.remove({ ids: [{ id: newest?.id ?? "" }] }, WHY);
    expect((await fleet.sealedOnes()).length).toBe(1);
    await fleet.expectRight();
    const olderThanMs = fleet.world.now - (oldest?.finishedAt ?? 0);
    expect(
      await fleet.store.prune([{ queue: null, status: "succeeded", olderThanMs, keep: null }], 10),
    ).toBe(4);
    expect((await fleet.sealedOnes()).length).toBe(0);
    await fleet.expectRight();
    await fleet.upkeep(1);
    expect((await fleet.sealedOnes()).length).toBe(2);
    await fleet.expectRight();
  });

  it("are unsealed where any job of a pack has ended that is taken apart", async () => {
    await fleet.store.insert(newJobs(4), { areNew: true });
    const leased = await take(fleet.store, 4, { leaseMs: A_DAY_MS });
    for (const job of leased) {
      await fleet.store.settle([settlement(job, succeed())]);
      fleet.world.now += 20 * MINUTE_MS;
      const finishedAt = fleet.world.now;
      const jobs = Array.from({ length: STRETCH }, () =>
        adoptedJob({ status: "dead", finishedAt }),
      );
      await fleet.store.adopt(jobs);
      fleet.world.now += 20 * MINUTE_MS;
    }
    await fleet.upkeep(2);
    expect((await fleet.sealedOnes()).length).toBe(4);
    await fleet.store.remove({ ids: [{ id: leased[3]?.id ?? "" }] }, WHY);
    await fleet.store.count();
    await fleet.expectRight();
    await fleet.upkeep(1);
    expect((await fleet.sealedOnes()).length).toBe(4);
    await fleet.expectRight();
  });

  it("are passed over where there are more kinds than a sum has room for", async () => {
    const jobs = Array.from({ length: 1_001 }, (_, index) =>
      adoptedJob({
        status: "dead",
        finishedAt: fleet.world.now,
        group: `g${index}`,
        error: FAILURE,
      }),
    );
    for (let from = 0; from < jobs.length; from += 200) {
      await fleet.store.adopt(jobs.slice(from, from + 200));
    }
    const roomy = await fleet.world.process(fleet.world.database.db, { stretchDocuments: 1_000 });
    await fleet.upkeep(2, roomy);
    expect([(await fleet.stretches()).length, (await fleet.sealedOnes()).length]).toEqual([1, 0]);
    expect(await fleet.deadNow()).toBe(1_001);
    await roomy.close();
  });

  it("are sealed as they are where all of their jobs finished at once", async () => {
    const jobs = Array.from({ length: 50 }, () =>
      adoptedJob({ status: "succeeded", finishedAt: fleet.world.now }),
    );
    await fleet.store.adopt(jobs);
    await fleet.upkeep(2);
    expect((await fleet.sealedOnes()).map(({ sum }) => sum?.documents)).toEqual([50]);
    await fleet.expectRight();
  });

  it("leave a count little to walk", async () => {
    await fleet.past(500, { status: "dead" });
    await fleet.past(505);
    await fleet.upkeep(2);
    const { db } = fleet.world.database;
    for (const look of [
      () => fleet.store.count(),
      () => fleet.store.countDead({ by: "type", limit: 9 }),
    ]) {
      await db.command({ profile: 2 });
      await look();
      await db.command({ profile: 0 });
      const ns = `${db.databaseName}.holdfast_jobs`;
      const operations = await db.collection("system.profile").find({ ns }).toArray();
      await db.collection("system.profile").drop();
      expect(operations.length).toBeGreaterThan(0);
      for (const { planSummary, keysExamined, docsExamined } of operations) {
        expect(String(planSummary)).not.toContain("COLLSCAN");
        expect(Number(keysExamined ?? 0)).toBeLessThan(3 * STRETCH);
        expect(Number(docsExamined ?? 0)).toBeLessThanOrEqual(1);
      }
    }
  });

  it("are joined when little is left in them, and cut again when much has come into them", async () => {
    const jobs = await fleet.past(60);
    await fleet.upkeep(2);
    await fleet.store.remove({ ids: jobs.slice(3, 57).map(({ id }) => ({ id })) }, WHY);
    await fleet.upkeep(12);
    expect((await fleet.sealedOnes()).length).toBeLessThan(4);
    await fleet.expectRight();
    const finishedAt = jobs[0]?.finishedAt ?? 0;
    const more = Array.from({ length: 90 }, (_, index) =>
      adoptedJob({ status: "succeeded", finishedAt: finishedAt - index * MINUTE_MS }),
    );
    await fleet.store.adopt(more);
    await fleet.upkeep(3);
    expect((await fleet.sealedOnes()).length).toBeGreaterThan(6);
    for (const { sum } of await fleet.sealedOnes()) expect(sum?.documents).toBeLessThanOrEqual(40);
    await fleet.expectRight();
  });
});
