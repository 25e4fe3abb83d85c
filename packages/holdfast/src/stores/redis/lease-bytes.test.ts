/** A bound in bytes over queues that are asked side by side. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  redisHouse,
  redisPlace,
  type RedisHouse,
} from "../../../../../test/servers/redis-place.ts";
import type { Store } from "../../core/store.ts";
import { idsOf, insertOne, insertSome, QUEUE } from "../../testing/conformance/new-job.ts";
import { die, settle } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly, takeOne } from "../../testing/conformance/take.ts";

let house: RedisHouse;
let place: Awaited<ReturnType<typeof redisPlace>>;
let store: Store;
beforeAll(async () => void (house = await redisHouse("redis")));
afterAll(() => house.close());
beforeEach(async () => {
  place = await redisPlace(house);
  store = await place.open();
  await store.open();
});
afterEach(async () => {
  await store.close();
  await place.dispose();
});

const KB = 1_000;
const payloadOf = (size: number) => JSON.stringify("x".repeat(size));

async function leaseBytes(queues: readonly string[], limit: number, maxBytes: number) {
  const reply = await store.lease(leaseRequest(limit, { queues, maxBytes }));
  const taken = reply.jobs.reduce((sum, { payload }) => sum + payload.length, 0);
  return { ...reply, taken };
}

describe("a bound in bytes", () => {
  it("is not passed by many queues together, and what they left goes to those with more", async () => {
    const queues = ["a", "b", "c", "empty"];
    for (const queue of ["a", "b", "c"]) {
      await insertSome(store, 10, { queue, payload: payloadOf(10 * KB) });
    }
    const { jobs, taken, nextInMs } = await leaseBytes(queues, 40, 80 * KB);
    expect(taken).toBeLessThanOrEqual(80 * KB);
    // A part is 20 KB, and the one of the empty queue is room for another job or two.
    expect(jobs.length).toBeGreaterThanOrEqual(6);
    expect(new Set(jobs.map(({ queue }) => queue)).size).toBe(3);
    expect(nextInMs).toBe(0);
  });

  it("lets a job through that is larger than every part, if there is nothing else", async () => {
    const job = await insertOne(store, { queue: "b", payload: payloadOf(50 * KB) });
    const { jobs } = await leaseBytes(["a", "b", "c"], 30, KB);
    expect(idsOf(jobs)).toEqual([job.id]);
  });

  it("lets no large job wait for as long as others have small ones", async () => {
    const large = await insertSome(store, 2, { queue: "large", payload: payloadOf(50 * KB) });
    const small = await insertSome(store, 100, { queue: "small", payload: payloadOf(100) });
    const seen: string[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const { jobs, taken } = await leaseBytes(["small", "large"], 10, 10 * KB);
      expect(taken).toBeLessThanOrEqual(60.1 * KB);
      expect(jobs.some(({ queue }) => queue === "small")).toBe(true);
      seen.push(...idsOf(jobs));
    }
    expect(seen).toEqual(expect.arrayContaining(idsOf(large)));
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBeLessThan(small.length);
  });

  it("sees a large job between small ones, in its turn", async () => {
    const before = await insertSome(store, 3);
    const large = await insertOne(store, { payload: payloadOf(50 * KB) });
    const after = await insertSome(store, 3);
    const first = await leaseBytes([QUEUE], 10, 20 * KB);
    expect([idsOf(first.jobs), first.nextInMs]).toEqual([idsOf(before), 0]);
    expect(idsOf((await leaseBytes([QUEUE], 10, 20 * KB)).jobs)).toEqual([large.id]);
    expect(idsOf((await leaseBytes([QUEUE], 10, 20 * KB)).jobs)).toEqual(idsOf(after));
  });

  it("counts a payload that an operator has put in", async () => {
    await insertSome(store, 2);
    for (const job of await takeExactly(store, 2)) await settle(store, job, die());
    await store.revive(
      { filter: { status: ["dead"] }, frozenAt: await store.now(), limit: 10 },
      {
        ...{ delayMs: 0, runAt: null, attempts: 1 },
        payload: { json: payloadOf(50 * KB), hash: null },
      },
      { reason: null, by: null },
    );
    expect((await leaseBytes([QUEUE], 2, 60 * KB)).jobs).toHaveLength(1);
    await takeOne(store);
  });

  it("is kept by the lines of a queue in their turns", async () => {
    for (const group of ["a", "b", "c"]) {
      await insertSome(store, 4, { group, payload: payloadOf(10 * KB) });
    }
    const groups: string[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const { jobs, taken } = await leaseBytes([QUEUE], 12, 25 * KB);
      expect(taken).toBeLessThanOrEqual(25 * KB);
      groups.push(...jobs.map(({ group }) => group));
    }
    expect(groups.slice(0, 6).sort()).toEqual(["a", "a", "b", "b", "c", "c"]);
    expect(groups).toHaveLength(12);
  });
});
