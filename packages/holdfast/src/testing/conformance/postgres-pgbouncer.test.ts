import { afterAll, beforeAll, describe, it } from "vitest";
import { startPgbouncer } from "../../../../../test/servers/pgbouncer.ts";
import { postgresPlace, postgresSchema } from "../../../../../test/servers/postgres-place.ts";
import type { PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import { serverUrl, type TestServer } from "../../../../../test/servers/server-desk.ts";
import { onlyInFull, TIER } from "../../../../../test/runner/tier.ts";
import { storeConformance } from "./index.ts";

const inFull = TIER === "full" ? describe : () => {};
if (TIER !== "full") it("the PostgreSQL store passes its suite through pgbouncer", onlyInFull);

inFull("the PostgreSQL store through pgbouncer in transaction mode", () => {
  let bouncer: TestServer;
  let schema: PostgresSchema;
  beforeAll(async () => {
    bouncer = await startPgbouncer(await serverUrl("postgres"));
    console.log(`test server pgbouncer: ${bouncer.how}`);
    schema = await postgresSchema({ hasStillClock: true, poolerUrl: bouncer.url });
  });
  afterAll(async () => {
    await schema.drop();
    await bouncer.stop();
  });

  storeConformance({
    describe,
    it,
    transactions: true,
    rewinds: true,
    place: () => postgresPlace(schema),
  });
});
