import { afterAll, beforeAll, describe, it } from "vitest";
import { postgresPlace, postgresSchema } from "../../../../../test/servers/postgres-place.ts";
import type { PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import { storeConformance } from "./index.ts";

describe("the PostgreSQL store", () => {
  let schema: PostgresSchema;
  beforeAll(async () => void (schema = await postgresSchema({ hasStillClock: true })));
  afterAll(() => schema.drop());

  storeConformance({
    describe,
    it,
    transactions: true,
    rewinds: true,
    place: () => postgresPlace(schema),
  });
});
