import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import { startPgbouncer } from "../../../test/servers/pgbouncer.ts";
import { postgresPlace, postgresSchema } from "../../../test/servers/postgres-place.ts";
import type { PostgresSchema } from "../../../test/servers/postgres-place.ts";
import { serverUrl, type TestServer } from "../../../test/servers/server-desk.ts";
import { storeProperties } from "./index.ts";

/** What is different behind a pooler shows soon: in the first call that counts on its connection. */
const RUNS = Number(process.env["HOLDFAST_PROPERTY_RUNS"] ?? 20);

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
    runs: RUNS,
    command: "npx vitest run src/testing/property/postgres-pgbouncer.test.ts",
    place: () => postgresPlace(schema),
  });
});
