/** The driver that BullMQ brings: both job systems must be able to stand side by side. */
import { Cluster, Redis } from "ioredis5";
import { afterAll, beforeAll, describe, it } from "vitest";
import {
  redisHouse,
  redisPlace,
  type RedisHouse,
} from "../../../../../test/servers/redis-place.ts";
import { serverUrl } from "../../../../../test/servers/server-desk.ts";
import { onlyInFull, TIER } from "../../../../../test/runner/tier.ts";
import { storeConformance } from "./index.ts";

// Twice a thousand tests: too many to name each as not run.
const inFull = TIER === "full" ? describe : () => {};
if (TIER !== "full") it("the Redis store passes its suite with ioredis 5", onlyInFull);

inFull("the Redis store with ioredis 5", () => {
  let house: RedisHouse;
  let client: Redis;
  beforeAll(async () => {
    house = await redisHouse("redis");
    client = new Redis(await serverUrl("redis"));
  });
  afterAll(async () => {
    client.disconnect();
    await house.close();
  });

  storeConformance({ describe, it, rewinds: true, place: () => redisPlace(house, client) });
});

inFull("the Redis store with ioredis 5 on a cluster of three", () => {
  let house: RedisHouse;
  let client: Cluster;
  beforeAll(async () => {
    house = await redisHouse("redis-cluster");
    client = new Cluster([await serverUrl("redis-cluster")]);
  });
  afterAll(async () => {
    client.disconnect();
    await house.close();
  });

  storeConformance({
    describe,
    it,
    async place() {
      const { rewind: _rewind, ...place } = await redisPlace(house, client);
      return place;
    },
  });
});
