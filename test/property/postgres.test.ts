import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { inTier } from "../runner/tier.ts";
import { postgresPlace, postgresSchema } from "../servers/postgres-place.ts";
import type { PostgresSchema } from "../servers/postgres-place.ts";
import { storeProperties } from "./index.ts";

/** A look at everything is some fifty questions to a server here: half as many runs as elsewhere. */
const RUNS = inTier({ daily: 25, full: 250 });

describe("the PostgreSQL store", () => {
  let schema: PostgresSchema;
  beforeAll(async () => void (schema = await postgresSchema({ hasStillClock: true })));
  afterAll(() => schema.drop());

  storeProperties({
    describe,
    it,
    fc,
    hasTransactions: true,
    runs: RUNS,
    command: "npx vitest run test/property/postgres.test.ts",
    place: () => postgresPlace(schema),
  });
});
