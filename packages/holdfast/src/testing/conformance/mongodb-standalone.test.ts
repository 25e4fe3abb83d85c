import { afterAll, beforeAll, describe, it } from "vitest";
import { mongodbDatabase, mongodbPlace } from "../../../../../test/servers/mongodb-place.ts";
import type { MongodbDatabase } from "../../../../../test/servers/mongodb-place.ts";
import { storeConformance } from "./index.ts";

describe("the MongoDB store on a standalone server", () => {
  let database: MongodbDatabase;
  beforeAll(async () => void (database = await mongodbDatabase("mongodb-standalone")));
  afterAll(() => database.drop());

  storeConformance({ describe, it, rewinds: true, place: () => mongodbPlace(database) });
});
