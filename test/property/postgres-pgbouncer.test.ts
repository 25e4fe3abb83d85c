import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { inTier } from "../runner/tier.ts";
import { startPgbouncer } from "../servers/pgbouncer.ts";
import { postgresPlace, postgresSchema } from "../servers/postgres-place.ts";
import type { PostgresSchema } from "../servers/postgres-place.ts";
import { serverUrl, type TestServer } from "../servers/server-desk.ts";
import { storeProperties } from "./index.ts";

/** What is different behind a pooler shows soon: in the first call that counts on its connection. */
const RUNS = inTier({ daily: 10, full: 60 });

describe("the PostgreSQL store through pgbouncer in transaction mode", () => {
  let bouncer: TestServer;
  let schema: PostgresSchema;
  beforeAll(async () => {
    bouncer = await startPgbouncer(await serverUrl("postgres"));
    schema = await postgresSchema({ hasStillClock: true, poolerUrl: bouncer.url });
  });
  afterAll(async () => {
    await schema.drop();
    await bouncer.stop();
  });

  storeProperties({
    describe,
    it,
    fc,
    hasTransactions: true,
    runs: RUNS,
    command: "npx vitest run test/property/postgres-pgbouncer.test.ts",
    place: () => postgresPlace(schema),
  });
});
