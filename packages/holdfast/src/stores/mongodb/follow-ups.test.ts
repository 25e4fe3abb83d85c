/**
 * What follows from a settle, and a process that dies between writing it down and doing it: whoever comes next
 * does it, once.
 */
import assert from "node:assert/strict";
import { describe, expect, it } from "vitest";
import {
  Died,
  dyingAt,
  mongodbWorld,
  type Write,
} from "../../../../../test/servers/mongodb-world.ts";
import { SpawnLimitError } from "../../core/errors.ts";
import type { LeasedJob, Settlement } from "../../core/store.ts";
import { entriesOf, jobOf } from "../../testing/conformance/looking.ts";
import { insertOne, key, newJob } from "../../testing/conformance/new-job.ts";
import { ledgerEntry, settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly, takeOne } from "../../testing/conformance/take.ts";

const LONG_ENOUGH_MS = 60_000;
const HOUR_MS = 3_600_000;

const world = mongodbWorld();

async function settleAndDie(most: number, ended: Settlement): Promise<void> {
  const isInsert = ({ verb, collection }: Write): boolean =>
    verb === "insert" && (collection === "jobs" || collection === "ledger");
  const dying = await world.process(dyingAt(most, world.database, isInsert));
  await expect(dying.settle([ended])).rejects.toThrow(Died);
  await dying.close();
}

/** With a key, so that it has a document of its own. */
async function leasedParent(): Promise<LeasedJob> {
  await insertOne(world.store, { group: "parent", dedupe: key("parent", "kept") });
  return takeOne(world.store);
}

describe("what follows from a settle", () => {
  for (const [when, most] of [
    ["before the spawned jobs", 1],
    ["between the spawned jobs and the entries", 2],
  ] as const) {
    it(`is done by a chore if its process dies ${when}`, async () => {
      const leased = await leasedParent();
      const spawn = [newJob(), newJob()];
      await settleAndDie(most, settlement(leased, succeed(), { spawn, entries: [ledgerEntry()] }));
      expect((await jobOf(world.store, leased)).status).toBe("succeeded");
      world.now += LONG_ENOUGH_MS;
      await world.store.reap({ limit: 10 });
      expect((await takeExactly(world.store, 2)).map(({ id }) => id)).toEqual(
        spawn.map(({ id }) => id),
      );
      expect(await entriesOf(world.store)).toHaveLength(1);
      expect((await jobOf(world.store, leased)).logs).toEqual([]);
    });

    it(`is done by the repeated settle if its process dies ${when}`, async () => {
      const leased = await leasedParent();
      const spawn = [newJob()];
      const ended = settlement(leased, succeed(), { spawn, entries: [ledgerEntry()] });
      await settleAndDie(most, ended);
      expect(await world.store.settle([ended])).toEqual(["settled"]);
      assert.equal((await takeOne(world.store)).id, spawn[0]?.id);
      expect(await entriesOf(world.store)).toHaveLength(1);
      expect((await jobOf(world.store, leased)).logs).toEqual([]);
    });
  }

  it("outlives the job that is not kept", async () => {
    const leased = await leasedParent();
    const spawn = [newJob()];
    await settleAndDie(1, settlement(leased, succeed(), { spawn, discard: true }));
    expect(await world.store.get([{ id: leased.id }])).toEqual(["pruned"]);
    world.now += LONG_ENOUGH_MS;
    await world.store.reap({ limit: 10 });
    assert.equal((await takeOne(world.store)).id, spawn[0]?.id);
  });

  it("is done, and can be leased, also after its queue was forgotten", async () => {
    const leased = await leasedParent();
    const spawn = [newJob({ queue: "later" })];
    await settleAndDie(1, settlement(leased, succeed(), { spawn }));
    world.now += 2 * HOUR_MS;
    await world.store.prune([], 10);
    await world.store.reap({ limit: 10 });
    const { jobs } = await world.store.lease(leaseRequest(1, { queues: ["later"] }));
    expect(jobs.map(({ id }) => id)).toEqual(spawn.map(({ id }) => id));
    expect((await world.store.count()).map(({ queue }) => queue)).toContain("later");
  });

  it("is refused before anything is written if no document can keep it, and the lease stays", async () => {
    const leased = await leasedParent();
    const spawn = Array.from({ length: 1_000 }, () => newJob({ meta: "m".repeat(16 * 1024) }));
    const settling = world.store.settle([settlement(leased, succeed(), { spawn })]);
    await expect(settling).rejects.toThrow(SpawnLimitError);
    expect((await jobOf(world.store, leased)).status).toBe("processing");
    expect(await world.store.settle([settlement(leased, succeed())])).toEqual(["settled"]);
  });
});
