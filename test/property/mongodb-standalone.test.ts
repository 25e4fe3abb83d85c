import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { inTier } from "../runner/tier.ts";
import { mongodbDatabase, mongodbPlace } from "../servers/mongodb-place.ts";
import type { MongodbDatabase } from "../servers/mongodb-place.ts";
import { storeProperties } from "./index.ts";

describe("the MongoDB store on a standalone server", () => {
  let database: MongodbDatabase;
  beforeAll(async () => void (database = await mongodbDatabase("mongodb-standalone")));
  afterAll(() => database.drop());

  storeProperties({
    describe,
    it,
    fc,
    command: "npx vitest run test/property/mongodb-standalone.test.ts",
    runs: inTier({ daily: 6, full: 100 }),
    place: () => mongodbPlace(database),
  });
});
