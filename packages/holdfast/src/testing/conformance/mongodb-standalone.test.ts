import { afterAll, beforeAll, describe, it } from "vitest";
import { mongodbDatabase, mongodbPlace } from "../../../../../test/servers/mongodb-place.ts";
import type { MongodbDatabase } from "../../../../../test/servers/mongodb-place.ts";
import { onlyInFull, TIER } from "../../../../../test/runner/tier.ts";
import { storeConformance } from "./index.ts";

const inFull = TIER === "full" ? describe : () => {};
if (TIER !== "full") it("the MongoDB store passes its suite on a standalone server", onlyInFull);

inFull("the MongoDB store on a standalone server", () => {
  let database: MongodbDatabase;
  beforeAll(async () => void (database = await mongodbDatabase("mongodb-standalone")));
  afterAll(() => database.drop());

  storeConformance({ describe, it, rewinds: true, place: () => mongodbPlace(database) });
});
