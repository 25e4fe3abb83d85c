import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../test/servers/postgres-place.ts";
import { postgresStore } from "../../stores/postgres/index.ts";
import { storeConformance } from "./index.ts";

describe("the PostgreSQL store", () => {
  let place: PostgresSchema;
  beforeAll(async () => void (place = await postgresSchema()));
  afterAll(() => place.drop());

  storeConformance({
    describe,
    it,
    transactions: true,
    place: async () => ({
      open: async () => postgresStore({ pool: place.pool, schema: place.schema }),
      advance: (ms) => sleep(ms),
      async transaction() {
        const tx = await place.connect();
        await tx.query("BEGIN");
        return {
          tx,
          commit: async () => void (await tx.query("COMMIT")),
          rollback: async () => void (await tx.query("ROLLBACK")),
        };
      },
      dispose: () => place.clear(),
    }),
  });
});
