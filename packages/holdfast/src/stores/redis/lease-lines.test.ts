/** A lease walks through lines that give something: those that are held, full or not wanted cost it nothing. */
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { commandsFor } from "../../../../../test/servers/redis-commands.ts";
import { startOwnRedis, type OwnRedis } from "../../../../../test/servers/redis.ts";
import type { LineRef } from "../../core/line.ts";
import type { Store } from "../../core/store.ts";
import { insertAll, insertOne, newJob, QUEUE } from "../../testing/conformance/new-job.ts";
import { leaseRequest, takeExactly, takeNothing } from "../../testing/conformance/take.ts";
import { redisStore } from "./index.ts";

let server: OwnRedis;
let admin: Redis;
let store: Store;
let now = Date.UTC(2031, 0, 1);
beforeAll(async () => {
  server = await startOwnRedis();
  admin = new Redis(server.url);
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});
beforeEach(async () => {
  await admin.flushall();
  store = redisStore({ url: server.url, now: () => now });
  await store.open();
});
afterEach(() => store.close());

const FEW = 20;
const MANY = 2_000;
const hold = { forMs: null, reason: "closed", by: null };

function lines(count: number): (LineRef & { readonly group: string })[] {
  return Array.from({ length: count }, (_, index) => ({ queue: QUEUE, group: `line-${index}` }));
}

async function fill(count: number): Promise<void> {
  await insertAll(
    store,
    lines(count).map(({ group }) => newJob({ group })),
  );
}

async function leaseCost(limit: number, how: { readonly cappedLimit?: number } = {}) {
  return commandsFor(admin, () => store.lease(leaseRequest(limit, how)));
}

describe("a lease costs as much beside thousands of lines as beside a few", () => {
  it("that have a default cap, when it may take one of them", async () => {
    await store.limit([{ queue: QUEUE, group: null, maxActivePerGroup: 1 }]);
    await fill(FEW);
    const before = await leaseCost(10, { cappedLimit: 1 });
    await fill(MANY);
    expect(await leaseCost(10, { cappedLimit: 1 })).toBeLessThanOrEqual(before);
  });

  it("that have caps of their own, when it wants none of them", async () => {
    await store.limit(lines(MANY).map((line) => ({ ...line, maxActive: 1 })));
    await insertOne(store);
    const before = await leaseCost(10, { cappedLimit: 0 });
    await fill(MANY);
    await insertOne(store);
    expect(await leaseCost(10, { cappedLimit: 0 })).toBeLessThanOrEqual(before);
  });

  it("that are held", async () => {
    await store.hold(lines(MANY).map((line) => ({ ...line, owner: "pause", hold })));
    await insertOne(store);
    const before = await leaseCost(10);
    await fill(MANY);
    await insertOne(store);
    // A look at whether a hold has ended, and when the next one does.
    expect(await leaseCost(10)).toBeLessThanOrEqual(before + 10);
  });

  it("that were waiting when they were held", async () => {
    await fill(MANY);
    await store.hold(lines(MANY).map((line) => ({ ...line, owner: "pause", hold })));
    await insertOne(store);
    expect(await leaseCost(10)).toBeLessThan(50);
  });

  it("that are full", async () => {
    await store.limit([{ queue: QUEUE, group: null, maxActivePerGroup: 1 }]);
    await fill(MANY);
    await takeExactly(store, MANY);
    await fill(MANY);
    await insertOne(store);
    expect(await leaseCost(10)).toBeLessThan(50);
  });
});

describe("a lease says when to come back", () => {
  it("for an uncapped line behind thousands of capped ones that are held, to who wants no capped", async () => {
    const capped = lines(MANY);
    await store.limit(capped.map((line) => ({ ...line, maxActive: 1 })));
    await fill(MANY);
    const change = { owner: "cooldown", hold: { ...hold, forMs: 1_000 } };
    await store.hold(capped.map((line) => ({ ...line, ...change })));
    await insertOne(store, { group: "open" });
    const held = { queue: QUEUE, group: "open", owner: "cooldown" };
    await store.hold([{ ...held, hold: { ...hold, forMs: 5_000 } }]);
    const nextInMs = async (cappedLimit: number) =>
      (await store.lease(leaseRequest(10, { cappedLimit }))).nextInMs;
    expect([await nextInMs(0), await nextInMs(10)]).toEqual([5_000, 1_000]);
  });

  it("at once while lines are let in again, until all have been", async () => {
    await fill(MANY);
    const change = { owner: "cooldown", hold: { ...hold, forMs: 1_000 } };
    await store.hold(lines(MANY).map((line) => ({ ...line, ...change })));
    await takeNothing(store);
    now += 1_000;
    await takeExactly(store, MANY);
    expect((await store.lease(leaseRequest(1))).nextInMs).toBeNull();
  });
});

describe("a cap of the queue that is changed", () => {
  it("opens full lines when it is raised, all of them", async () => {
    await store.limit([{ queue: QUEUE, group: null, maxActivePerGroup: 1 }]);
    await fill(MANY);
    await takeExactly(store, MANY);
    await fill(MANY);
    await takeNothing(store);
    await store.limit([{ queue: QUEUE, group: null, maxActivePerGroup: 2 }]);
    await takeExactly(store, MANY / 2);
    await store.limit([{ queue: QUEUE, group: null, maxActivePerGroup: 3 }]);
    await takeExactly(store, MANY / 2);
    await takeNothing(store);
  });

  it("closes lines that are over it when it is lowered", async () => {
    await fill(MANY);
    await takeExactly(store, MANY);
    await fill(MANY);
    await store.limit([{ queue: QUEUE, group: null, maxActivePerGroup: 1 }]);
    const free = await insertOne(store, { group: "other" });
    const [first] = await takeExactly(store, 1);
    expect(first?.id).toBe(free.id);
    await takeNothing(store);
    expect((await store.lease(leaseRequest(1))).nextInMs).toBeNull();
  });
});
