/** Disowning jobs that share documents, with what is remembered of it. */
import assert from "node:assert/strict";
import { describe, expect, it } from "vitest";
import { mongodbWorld } from "../../../../../test/servers/mongodb-world.ts";
import type { LeasedJob, LeaseRef } from "../../core/store.ts";
import { countsOf, jobOf } from "../../testing/conformance/looking.ts";
import { insertAll, newJobs, QUEUE, sortedIdsOf } from "../../testing/conformance/new-job.ts";
import { leaseRef, renew, settle, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly } from "../../testing/conformance/take.ts";
import { PASSED_MS, SHORT_MS } from "../../testing/conformance/times.ts";

const LOST = "host:7:lost";
const HOUR_MS = 3_600_000;

const world = mongodbWorld();

/** In packs. */
async function leased(
  count: number,
  worker = LOST,
  leaseMs = HOUR_MS,
): Promise<readonly LeasedJob[]> {
  const jobs = newJobs(count);
  await world.store.insert(jobs, { areNew: true });
  const { jobs: own } = await world.store.lease(leaseRequest(count, { worker, leaseMs }));
  assert.equal(own.length, count);
  assert.ok(own.every(({ handle }) => handle.startsWith("pack ")));
  return own;
}

function disown(except: readonly LeaseRef[] = []): Promise<number> {
  return world.store.disown({ worker: LOST, queues: [QUEUE], except: except.map(leaseRef) });
}

describe("jobs that share a document", () => {
  it("go back but for those that the worker knows, and those that have ended", async () => {
    const jobs = await leased(120);
    const [ended, known, ...others] = jobs;
    assert.ok(ended && known);
    await settle(world.store, ended, succeed());
    expect(await disown([known])).toBe(118);
    expect(await renew(world.store, known)).toBe("kept");
    expect((await jobOf(world.store, ended)).status).toBe("succeeded");
    for (const { id } of others.slice(0, 3)) {
      expect(await jobOf(world.store, { id })).toMatchObject({
        ...{ status: "queued", attempts: 0, crashes: 0, history: [] },
      });
    }
    const again = await takeExactly(world.store, 118, { worker: "worker-2" });
    expect(sortedIdsOf(again)).toEqual(sortedIdsOf(others));
    expect(await disown([known])).toBe(0);
    expect((await countsOf(world.store)).processing).toBe(119);
  });

  it("go back each once, however often it is said at the same time", async () => {
    await leased(120);
    const other = await world.process(world.database.db);
    const disowning = { worker: LOST, queues: [QUEUE], except: [] };
    const backs = await Promise.all([disown(), disown(), other.disown(disowning)]);
    expect(backs.reduce((sum, back) => sum + back, 0)).toBe(120);
    expect(await countsOf(world.store)).toMatchObject({ ready: 120, processing: 0 });
    await other.close();
  });

  it("are reaped uncharged if they were leased late, and charged if they were known", async () => {
    const known = await leased(3, LOST, SHORT_MS);
    await disown(known);
    const late = await leased(2, LOST, SHORT_MS);
    const others = await leased(2, "worker-2", SHORT_MS);
    world.now += PASSED_MS;
    const reaped = await world.store.reap({ limit: 100 });
    const charged = reaped.filter((one) => one.charged);
    expect(sortedIdsOf(charged)).toEqual(sortedIdsOf([...known, ...others]));
    expect(sortedIdsOf(reaped.filter((one) => !one.charged))).toEqual(sortedIdsOf(late));
  });
});

describe("a disowned worker", () => {
  it("is forgotten after an hour, and then cleared", async () => {
    await disown();
    expect(await world.documents("disowned")).toHaveLength(1);
    await world.store.prune([], 10);
    expect(await world.documents("disowned")).toHaveLength(1);
    world.now += HOUR_MS;
    const jobs = newJobs(1);
    await insertAll(world.store, jobs);
    await takeExactly(world.store, 1, { worker: LOST, leaseMs: SHORT_MS });
    world.now += PASSED_MS;
    expect(await world.store.reap({ limit: 1 })).toMatchObject([{ charged: true }]);
    await world.store.prune([], 10);
    expect(await world.documents("disowned")).toEqual([]);
  });

  it("is written down once, with what it said last", async () => {
    const [job] = await leased(1);
    assert.ok(job);
    await disown([job]);
    expect(await disown()).toBe(1);
    expect(await world.documents("disowned")).toMatchObject([{ _id: LOST, except: [] }]);
  });
});
