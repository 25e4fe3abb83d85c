import { createHash } from "node:crypto";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import { StoreOpenError } from "../../core/errors.ts";
import { newJob } from "../../testing/conformance/new-job.ts";
import { postgresSchemaSql, postgresStore } from "./index.ts";
import { FUNCTIONS, FUNCTIONS_REVISION, MIGRATIONS } from "./migrations.ts";

let place: PostgresSchema;
beforeEach(async () => void (place = await postgresSchema()));
afterEach(() => place.drop());

async function meta(): Promise<Record<string, string>> {
  const { rows } = await place.pool.query<{ key: string; value: string }>(
    `SELECT key, value FROM "${place.schema}".meta`,
  );
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
}

describe("migrations", () => {
  it("let ten clients that open a new database at once take turns", async () => {
    const stores = Array.from({ length: 10 }, () => {
      const { url, schema } = place;
      return postgresStore({ url, schema });
    });
    await Promise.all(stores.map((store) => store.open()));
    const [first, last] = [stores[0], stores[9]];
    const job = newJob();
    await first?.insert([job]);
    expect(await last?.insert([job])).toEqual([
      { outcome: "duplicate", id: job.id, status: "queued" },
    ]);
    await Promise.all(stores.map((store) => store.close()));
    expect(await meta()).toMatchObject({ schema: String(MIGRATIONS.length) });
  });

  it("change nothing in a database that is up to date", async () => {
    const store = postgresStore({ pool: place.pool, schema: place.schema });
    await store.open();
    const before = await meta();
    await store.close();
    await store.open();
    expect(await meta()).toEqual(before);
    await store.close();
  });

  it("bring what came after the first tables to a database that has those", async () => {
    await place.pool.query(postgresSchemaSql({ schema: place.schema }));
    await place.pool.query(`
      SET search_path = "${place.schema}";
      ALTER TABLE job_details RENAME TO trail;
      DROP TABLE disowned;
      DROP INDEX ready_large;
      ALTER TABLE leased DROP COLUMN is_started;
      UPDATE meta SET value = '1' WHERE key IN ('schema', 'functions');
      RESET search_path`);
    const store = postgresStore({ pool: place.pool, schema: place.schema });
    await store.open();
    expect(await store.insert([newJob()])).toMatchObject([{ outcome: "added" }]);
    expect(await store.disown({ worker: "w", queues: [], except: [] })).toBe(0);
    await store.close();
    expect(await meta()).toMatchObject({ schema: "2", functions: String(FUNCTIONS_REVISION) });
  });

  it("leave a database alone that a newer Holdfast has written", async () => {
    const store = postgresStore({ pool: place.pool, schema: place.schema });
    await store.open();
    await store.close();
    await place.pool.query(`UPDATE "${place.schema}".meta SET value = '99' WHERE key = 'schema'`);
    await expect(store.open()).rejects.toThrow(StoreOpenError);
  });

  it("bring newer functions, and leave those alone that are newer still", async () => {
    const store = postgresStore({ pool: place.pool, schema: place.schema });
    const set = (revision: number) =>
      place.pool.query(
        `UPDATE "${place.schema}".meta SET value = '${revision}' WHERE key = 'functions'`,
      );
    await store.open();
    await store.close();
    for (const [there, after] of [
      [0, FUNCTIONS_REVISION],
      [99, 99],
    ] as const) {
      await set(there);
      await store.open();
      await store.close();
      expect(await meta()).toMatchObject({ functions: String(after) });
    }
  });

  it("can be run by hand, and then need no right to create anything", async () => {
    const role = `${place.schema}_user`;
    await place.pool.query(postgresSchemaSql({ schema: place.schema }));
    await place.pool.query(`
      CREATE ROLE "${role}" LOGIN;
      GRANT USAGE ON SCHEMA "${place.schema}" TO "${role}";
      GRANT ALL ON ALL TABLES IN SCHEMA "${place.schema}" TO "${role}";
      GRANT ALL ON ALL SEQUENCES IN SCHEMA "${place.schema}" TO "${role}"`);
    const url = new URL(place.url);
    url.username = role;
    const pool = new pg.Pool({ connectionString: url.href });
    try {
      const store = postgresStore({ pool, schema: place.schema });
      await store.open();
      expect(await store.insert([newJob()])).toMatchObject([{ outcome: "added" }]);
      await store.close();
      const refused = postgresStore({ pool, schema: `${place.schema}_new` });
      await expect(refused.open()).rejects.toThrow(/postgresSchemaSql/);
    } finally {
      await pool.end();
      await place.pool.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
    }
  });

  it("raise their revision when the text of a function changes", () => {
    // When this fails: raise FUNCTIONS_REVISION, then note both here.
    const text = FUNCTIONS.replaceAll(/\s+/g, " ");
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
    expect([FUNCTIONS_REVISION, hash]).toEqual([2, "e97208233807"]);
  });
});
