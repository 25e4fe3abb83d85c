import { describe, expect, it, vi } from "vitest";
import { dyingAt, intercepted } from "../../../../../test/servers/mongodb-world.ts";
import {
  A_DAY_MS,
  HOUR_MS,
  NOW,
  STRETCH,
  StretchWorld,
  WHY,
} from "../../../../../test/servers/stretch-world.ts";
import { inTier } from "../../../../../test/runner/tier.ts";
import type { LeasedJob, Store } from "../../core/store.ts";
import { adoptedJob, insertSome, newJobs } from "../../testing/conformance/new-job.ts";
import { die, FAILURE, settlement, succeed } from "../../testing/conformance/settling.ts";
import { take } from "../../testing/conformance/take.ts";
import { seededRandom } from "../../testing/seeded-random.ts";

async function settleOne(by: Store, jobs: readonly LeasedJob[]): Promise<void> {
  await by.settle(jobs.map((job) => settlement(job, succeed())));
}

async function cancelOne(by: Store): Promise<void> {
  const { jobs } = await by.find({ queue: "later" }, { limit: 1 });
  await by.cancel({ ids: jobs }, WHY);
}

for (const server of ["mongodb-standalone", "mongodb"] as const) {
  describe(`on ${server} a seal is never wrong`, () => {
    const fleet = new StretchWorld(server);

    it("after a process that died between unsealing and its change", async () => {
      const jobs = await fleet.past(50, { status: "dead" });
      await fleet.upkeep(2);
      const isOfJobs = ({ collection }: { readonly collection: string }) => collection === "jobs";
      const dying = await fleet.world.process(dyingAt(1, fleet.world.database, isOfJobs));
      await expect(dying.remove({ ids: [{ id: jobs[12]?.id ?? "" }] }, WHY)).rejects.toThrow(
        "kill -9",
      );
      expect((await fleet.sealedOnes()).length).toBe(4);
      await fleet.expectRight();
      await fleet.upkeep(1);
      expect((await fleet.sealedOnes()).length).toBe(5);
      await fleet.expectRight();
      await dying.close();
    });

    it("when a change is written long after its stretch was unsealed", async () => {
      vi.useFakeTimers({ toFake: ["Date"] });
      try {
        const jobs = await fleet.past(50, { status: "dead" });
        await fleet.upkeep(2);
        const frozen = await fleet.world.process(
          intercepted(fleet.world.database, async ({ collection }, run) => {
            if (collection !== "jobs") return run();
            // The process stands still, and the others go on.
            vi.setSystemTime(Date.now() + HOUR_MS);
            await fleet.upkeep(1);
            expect((await fleet.sealedOnes()).length).toBe(5);
            return run();
          }),
        );
        await frozen.remove({ ids: [{ id: jobs[12]?.id ?? "" }] }, WHY);
        expect((await fleet.sealedOnes()).length).toBe(4);
        await fleet.expectRight();
        await frozen.close();
      } finally {
        vi.useRealTimers();
      }
    });

    for (const [how, finish] of Object.entries({ settles: settleOne, cancels: cancelOne })) {
      it(`when somebody ${how} a job in a write that is an hour late`, async () => {
        vi.useFakeTimers({ toFake: ["Date"] });
        try {
          await fleet.store.insert(newJobs(1, { queue: "taken" }), { areNew: true });
          await insertSome(fleet.store, 1, { queue: "later", delayMs: A_DAY_MS });
          const jobs = await take(fleet.store, 1, { queue: "taken", leaseMs: A_DAY_MS });
          await fleet.upkeep(2);
          const frozen = await fleet.world.process(
            intercepted(fleet.world.database, async ({ collection }, run) => {
              if (collection !== "jobs") return run();
              for (let index = 0; index < STRETCH; index++) {
                await fleet.store.adopt([
                  adoptedJob({ status: "succeeded", finishedAt: fleet.world.now }),
                ]);
                fleet.world.now += 1;
              }
              vi.setSystemTime(Date.now() + HOUR_MS);
              await fleet.upkeep(1);
              expect((await fleet.sealedOnes()).length).toBe(1);
              return run();
            }),
          );
          await finish(frozen, jobs);
          expect((await fleet.sealedOnes()).length).toBe(0);
          await fleet.expectRight();
          await frozen.close();
        } finally {
          vi.useRealTimers();
        }
      });
    }

    const hasTransactions = server === "mongodb";
    const itInTransactions = hasTransactions ? it : () => {};
    itInTransactions("when a job has finished in a long transaction", async () => {
      const { client } = fleet.world.database;
      await fleet.past(STRETCH);
      await insertSome(fleet.store, 1);
      const [job] = await take(fleet.store, 1, { leaseMs: A_DAY_MS });
      const session = client.startSession();
      session.startTransaction();
      const within = fleet.store.within?.(session);
      if (job !== undefined) await within?.settle([settlement(job, die())]);
      await fleet.store.adopt(
        Array.from({ length: STRETCH }, () =>
          adoptedJob({ status: "dead", finishedAt: fleet.world.now }),
        ),
      );
      await fleet.upkeep(1 / 3);
      await session.commitTransaction();
      await session.endSession();
      await fleet.upkeep(2);
      await fleet.store.count();
      expect((await fleet.sealedOnes()).length).toBe(2);
      await fleet.expectRight();
      expect(await fleet.deadNow()).toBe(STRETCH + 1);
    });

    it("for a count beside many revivals and removals: it says what was before one of them, or after", async () => {
      const jobs = await fleet.past(200, { status: "dead" });
      await fleet.upkeep(2);
      let [begun, done, isOver] = [0, 0, false];
      const change = async (): Promise<void> => {
        const other = await fleet.another();
        for (const [index, { id }] of jobs.entries()) {
          if (index % 3 > 0) continue;
          begun++;
          const target = { ids: [{ id }] };
          if (index % 2 > 0) await other.remove(target, WHY);
          else await other.revive(target, NOW, WHY);
          done++;
        }
        isOver = true;
        await other.close();
      };
      const changing = change();
      while (!isOver) {
        const most = 200 - done;
        const total = await fleet.deadNow();
        expect(total).toBeLessThanOrEqual(most);
        expect(total).toBeGreaterThanOrEqual(200 - begun);
        const before = 200 - done;
        const [counts] = await fleet.store.countDead({ by: "queue", limit: 1 });
        expect(counts?.count).toBeLessThanOrEqual(before);
        expect(counts?.count).toBeGreaterThanOrEqual(200 - begun);
      }
      await changing;
      await fleet.expectRight();
    });

    it("for long, if a build that knows nothing of seals has changed jobs beside us", async () => {
      const jobs = await fleet.past(50, { status: "dead" });
      await fleet.upkeep(2);
      await fleet.world.database.db
        .collection("holdfast_jobs")
        .deleteOne({ _id: jobs[22]?.id as never });
      expect(await fleet.deadNow()).toBe(50);
      await fleet.upkeep(7);
      expect((await fleet.sealedOnes()).length).toBe(5);
      await fleet.expectRight();
    });

    it("for a moment, if such a build was alone for more than an hour", async () => {
      const jobs = await fleet.past(50, { status: "dead" });
      await fleet.upkeep(2);
      await fleet.world.database.db
        .collection("holdfast_jobs")
        .deleteOne({ _id: jobs[22]?.id as never });
      fleet.world.now += HOUR_MS + 1;
      await fleet.expectRight();
      await fleet.upkeep(1 / 3);
      expect(await fleet.sealedOnes()).toEqual([]);
      await fleet.upkeep(2);
      expect((await fleet.sealedOnes()).length).toBe(5);
      await fleet.expectRight();
    });

    for (let seed = 1; seed <= inTier({ daily: 2, full: 10 }); seed++) {
      it(`whatever is done in whatever order (${seed})`, async () => {
        let sealedMost = 0;
        const random = seededRandom(seed);
        const upTo = (most: number): number => Math.floor(random() * most);
        const oneOf = <T>(items: readonly T[]): T => items[upTo(items.length)] as T;
        const other = await fleet.another();
        const by = (): Store => oneOf([fleet.store, other]);
        const some = async (): Promise<{ id: string }[]> => {
          const all = (await fleet.world.documents("jobs")).flatMap(
            (job) => job["ids"] ?? job["_id"],
          );
          return Array.from({ length: 1 + upTo(4) }, () => ({ id: String(oneOf(all)) }));
        };
        const steps: readonly (() => Promise<unknown>)[] = [
          () => {
            const jobs = Array.from({ length: 1 + upTo(60) }, () =>
              adoptedJob({
                status: oneOf(["succeeded", "dead", "cancelled"] as const),
                queue: oneOf(["a", "b"]),
                group: oneOf(["", "g"]),
                error: oneOf([null, FAILURE, { ...FAILURE, fingerprint: "other" }]),
                finishedAt: fleet.world.now - upTo(A_DAY_MS),
              }),
            );
            return by().adopt(jobs);
          },
          async () => {
            await by().insert(newJobs(1 + upTo(6), { queue: "a" }), { areNew: true });
            const jobs = await take(by(), 6, { queue: "a", leaseMs: HOUR_MS });
            const ended = jobs.filter(() => random() < 0.8);
            await by().settle(
              ended.map((job) => settlement(job, random() < 0.8 ? succeed() : die())),
            );
          },
          async () => by().remove({ ids: await some() }, WHY),
          async () => by().revive({ ids: await some() }, NOW, WHY),
          async () => by().cancel({ ids: await some() }, WHY),
          () => {
            const status = oneOf(["succeeded", "dead"] as const);
            const olderThanMs = upTo(A_DAY_MS);
            return by().prune([{ queue: null, status, olderThanMs, keep: null }], 1 + upTo(10));
          },
        ];
        const upkeeps: readonly (() => Promise<unknown>)[] = [
          () => by().reap({ limit: 1 }),
          () => fleet.upkeep(oneOf([1 / 3, 1]), by()),
          () => fleet.upkeep(2, by()),
        ];
        for (let step = 0; step < 50; step++) {
          // At once: but nobody moves the clock while somebody writes.
          await Promise.all([oneOf(steps)(), oneOf(steps)(), by().reap({ limit: 1 })]);
          await oneOf(upkeeps)();
          await Promise.all([fleet.store.count(), other.count()]);
          await fleet.expectRight(by());
          sealedMost = Math.max(sealedMost, (await fleet.sealedOnes()).length);
        }
        await other.close();
        expect(sealedMost).toBeGreaterThan(5);
      });
    }
  });
}
