import { afterAll, beforeAll, describe, it } from "vitest";
import {
  redisHouse,
  redisPlace,
  type RedisHouse,
} from "../../../../../test/servers/redis-place.ts";
import { storeConformance } from "./index.ts";

describe("the Redis store", () => {
  let house: RedisHouse;
  beforeAll(async () => void (house = await redisHouse("redis")));
  afterAll(() => house.close());

  storeConformance({ describe, it, rewinds: true, place: () => redisPlace(house) });
});

describe("the Redis store on a cluster of three", () => {
  let house: RedisHouse;
  beforeAll(async () => void (house = await redisHouse("redis-cluster")));
  afterAll(() => house.close());

  storeConformance({
    describe,
    it,
    async place() {
      // Each node has a clock of its own: none is the one to be set back.
      const { rewind: _rewind, ...place } = await redisPlace(house);
      return place;
    },
  });
});
