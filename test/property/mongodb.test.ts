import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { inTier } from "../runner/tier.ts";
import { mongodbDatabase, mongodbPlace } from "../servers/mongodb-place.ts";
import type { MongodbDatabase } from "../servers/mongodb-place.ts";
import { storeProperties } from "./index.ts";

describe("the MongoDB store", () => {
  let database: MongodbDatabase;
  beforeAll(async () => void (database = await mongodbDatabase()));
  afterAll(() => database.drop());

  storeProperties({
    describe,
    it,
    fc,
    hasTransactions: true,
    command: "npx vitest run test/property/mongodb.test.ts",
    runs: inTier({ daily: 10, full: 200 }),
    place: () => mongodbPlace(database),
  });
});
