/** The store's clock beside a host's that was ahead and is put right (lua/clock.lua). */
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { allKeys, redisHouse, type RedisHouse } from "../../../../../test/servers/redis-place.ts";
import type { Store } from "../../core/store.ts";
import { insertOne } from "../../testing/conformance/new-job.ts";
import { leaseRequest, takeNothing, takeOne } from "../../testing/conformance/take.ts";
import { redisStore } from "./index.ts";

const HOUR_MS = 3_600_000;
const START = Date.UTC(2031, 0, 1);

let house: RedisHouse;
let prefix: string;
let host: number;
let store: Store;
beforeAll(async () => void (house = await redisHouse("redis")));
afterAll(() => house.close());
beforeEach(async () => {
  prefix = `clock_${randomBytes(6).toString("hex")}`;
  host = START;
  store = await opened();
});
afterEach(async () => {
  await store.close();
  for (const key of await allKeys(house.client, prefix)) await house.client.unlink(key);
});

async function opened(): Promise<Store> {
  const one = redisStore({ client: house.client, prefix, now: () => host });
  await one.open();
  return one;
}

async function kept(): Promise<Record<string, string>> {
  return house.client.hgetall(`{${prefix}}:m`);
}

describe("the clock of a host that was ahead", () => {
  it("goes on from where it was, at nine tenths of the pace, in every process", async () => {
    await store.now();
    host -= HOUR_MS;
    expect(await store.now()).toBe(START);
    host += 10_000;
    expect(await store.now()).toBe(START + 9_000);
    const other = await opened();
    host += 10_000;
    expect(await other.now()).toBe(START + 18_000);
    await other.close();
    host += 10_000;
    expect(await store.now()).toBe(START + 27_000);
  });

  it("is right again when the host has caught up", async () => {
    await store.now();
    host -= 10_000;
    await store.now();
    expect(Object.keys(await kept())).toContain("ahead");
    host += 100_000;
    expect(await store.now()).toBe(host);
    expect(Object.keys(await kept())).not.toContain("ahead");
    host += 1_000;
    expect(await store.now()).toBe(host);
  });

  it("goes on from a second step back too", async () => {
    await store.now();
    host -= HOUR_MS;
    await store.now();
    host += 10_000;
    await store.now();
    host -= HOUR_MS;
    expect(await store.now()).toBe(START + 9_000);
    host += 10_000;
    expect(await store.now()).toBe(START + 18_000);
  });

  it("waits where a step back is a second or less", async () => {
    await store.now();
    host -= 1_000;
    expect(await store.now()).toBe(START);
    host += 999;
    expect(await store.now()).toBe(START);
    expect(Object.keys(await kept())).not.toContain("ahead");
    host += 2;
    expect(await store.now()).toBe(START + 1);
  });

  it("goes on for a worker that is idle and writes nothing", async () => {
    await insertOne(store, { delayMs: 9_000 });
    host -= HOUR_MS;
    await takeNothing(store);
    host += 9_990;
    const { nextInMs } = await store.lease(leaseRequest(1));
    expect(nextInMs).toBe(9);
    host += 20;
    await takeOne(store);
  });
});
