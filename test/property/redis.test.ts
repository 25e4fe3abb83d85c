import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { inTier } from "../runner/tier.ts";
import { redisHouse, redisPlace, type RedisHouse } from "../servers/redis-place.ts";
import { storeProperties } from "./index.ts";

describe("the Redis store", () => {
  let house: RedisHouse;
  beforeAll(async () => void (house = await redisHouse("redis")));
  afterAll(() => house.close());

  storeProperties({
    describe,
    it,
    fc,
    command: "npx vitest run test/property/redis.test.ts",
    place: () => redisPlace(house),
  });
});

describe("the Redis store on a cluster of three", () => {
  let house: RedisHouse;
  beforeAll(async () => void (house = await redisHouse("redis-cluster")));
  afterAll(() => house.close());

  storeProperties({
    describe,
    it,
    fc,
    command: "npx vitest run test/property/redis.test.ts",
    place: () => redisPlace(house),
    runs: inTier({ daily: 20, full: 200 }),
    isSpread: true,
  });
});
