import { createHash } from "node:crypto";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import { StoreOpenError } from "../../core/errors.ts";
import { adoptAll, adoptedJob, newJob, newJobs, QUEUE } from "../../testing/conformance/new-job.ts";
import { die, leaseRef, retry, settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest, take } from "../../testing/conformance/take.ts";
import { LONG_MS } from "../../testing/conformance/times.ts";
import { postgresSchemaSql, postgresStore } from "./index.ts";
import { FUNCTIONS, FUNCTIONS_REVISION, MIGRATIONS, SERVES_FROM } from "./migrations.ts";

let place: PostgresSchema;
beforeEach(async () => void (place = await postgresSchema()));
afterEach(() => place.drop());

async function meta(): Promise<Record<string, string>> {
  const { rows } = await place.pool.query<{ key: string; value: string }>(
    `SELECT key, value FROM "${place.schema}".meta`,
  );
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
}

const WITHOUT_DEAD_COUNTS = `
      DROP FUNCTION note_dead CASCADE;
      DROP TABLE dead_count, dead_late;
      DROP INDEX done_dead_fingerprint, done_dead_category, done_dead_type, done_dead_group;`;

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
      ${WITHOUT_DEAD_COUNTS}
      DROP VIEW job_failures, job_idempotency_locks;
      DROP FUNCTION body_of;
      DROP TABLE open_line, queue_block;
      ALTER TABLE queue DROP COLUMN has_ring, DROP COLUMN ring_from, DROP COLUMN ring_wait_ms,
        DROP COLUMN ring_due_at, DROP COLUMN set_at;
      ALTER TABLE line DROP COLUMN is_shut;
      DROP INDEX line_held;
      ALTER TABLE done DROP COLUMN id, DROP COLUMN grp, DROP COLUMN type, DROP COLUMN category,
        DROP COLUMN fingerprint, DROP COLUMN tags, DROP COLUMN created_at;
      DROP INDEX done_unhappy_queue, ready_tried, delayed_tried, ready_late, delayed_when,
        delayed_line, ledger_queue, ledger_type, ledger_category, ledger_state, tally_slot;
      ALTER TABLE ledger DROP COLUMN fingerprint, DROP COLUMN company, DROP COLUMN is_final;
      ALTER TABLE tally DROP COLUMN used_at;
      ALTER TABLE head DROP COLUMN ahead_mark, DROP COLUMN ahead_host;
      ALTER TABLE job_details RENAME TO trail;
      DROP TABLE disowned;
      DROP INDEX ready_large;
      ALTER TABLE leased DROP COLUMN is_started;
      DELETE FROM meta WHERE key = 'works_with';
      UPDATE meta SET value = '1' WHERE key IN ('schema', 'functions');
      RESET search_path`);
    const store = postgresStore({ pool: place.pool, schema: place.schema });
    await store.open();
    expect(await store.insert([newJob()])).toMatchObject([{ outcome: "added" }]);
    expect(await store.disown({ worker: "w", queues: [], except: [] })).toBe(0);
    await store.close();
    expect(await meta()).toMatchObject({
      schema: String(MIGRATIONS.length),
      functions: String(FUNCTIONS_REVISION),
      works_with: String(SERVES_FROM),
    });
  });

  it("keep nobody waiting behind a transaction that they wait for", async () => {
    const { url, schema } = place;
    const working = postgresStore({ url, schema });
    await working.open();
    await working.insert([newJob()]);
    await place.pool.query(`
      SET search_path = "${schema}";
      DROP INDEX queue_block_order;
      UPDATE meta SET value = '7' WHERE key = 'schema';
      RESET search_path`);
    const tx = await place.connect();
    await tx.query("BEGIN");
    await working.within?.(tx).insert([newJob({ queue: "other" })]);
    const next = postgresStore({ url, schema });
    const opening = next.open();
    const waits = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1`;
    while ((await place.pool.query(waits, [`%"${schema}".queue_block%`])).rows.length === 0);
    // It needs the table that the migration waits for.
    expect(await working.insert([newJob({ queue: "new" })])).toMatchObject([{ outcome: "added" }]);
    await tx.query("COMMIT");
    await opening;
    expect(await meta()).toMatchObject({ schema: String(MIGRATIONS.length) });
    await Promise.all([working.close(), next.close()]);
  });

  it("count who was dead already", async () => {
    const store = postgresStore({ pool: place.pool, schema: place.schema });
    await store.open();
    await adoptAll(store, [adoptedJob({ status: "dead", type: "x", finishedAt: 2_000 })]);
    await store.close();
    await place.pool.query(`
      SET search_path = "${place.schema}";
      ${WITHOUT_DEAD_COUNTS}
      DROP INDEX queue_block_order;
      UPDATE meta SET value = '6' WHERE key = 'schema';
      RESET search_path`);
    await store.open();
    const [counted] = await store.countDead({ by: "type", limit: 10 });
    expect(counted).toMatchObject({ key: "x", count: 1, firstAt: 2_000, lastAt: 2_000 });
    await store.close();
  });

  it("work with a newer schema that says it serves this code, through the whole life of a job", async () => {
    const { pool, schema } = place;
    await pool.query(postgresSchemaSql({ schema }));
    const next = MIGRATIONS.length + 1;
    await pool.query(`
      SET search_path = "${schema}";
      ALTER TABLE job ADD COLUMN flavour text, ADD COLUMN size bigint NOT NULL DEFAULT 0;
      ALTER TABLE ready ADD COLUMN flavour text;
      ALTER TABLE leased ADD COLUMN flavour text;
      ALTER TABLE done ADD COLUMN flavour text;
      ALTER TABLE delayed ADD COLUMN flavour text;
      ALTER TABLE queue ADD COLUMN flavour text;
      CREATE TABLE flavour (name text PRIMARY KEY);
      CREATE INDEX job_flavour ON job (flavour) WHERE flavour IS NOT NULL;
      UPDATE meta SET value = '${next}' WHERE key = 'schema';
      RESET search_path`);
    const store = postgresStore({ pool, schema });
    await store.open();
    await store.limit([{ queue: QUEUE, group: "g", maxActive: 2 }]);
    const [kept, retried, dead] = newJobs(3, { group: "g" });
    if (!kept || !retried || !dead) throw new Error("no jobs");
    await store.insert([kept, newJob({ delayMs: LONG_MS })]);
    const [first] = await take(store, 1);
    if (first === undefined) throw new Error("nothing was leased");
    expect(await store.renew([leaseRef(first)], LONG_MS)).toEqual(["kept"]);
    expect(await store.settle([settlement(first, succeed("1"))])).toEqual(["settled"]);
    await store.insert([retried, dead]);
    const two = await take(store, 2);
    await store.settle(two.map((job, n) => settlement(job, n === 0 ? retry(0) : die())));
    await store.lease({ ...leaseRequest(1), leaseMs: 0 });
    expect(await store.reap({ limit: 10 })).toHaveLength(1);
    const why = { reason: null, by: null };
    const { changes } = await store.revive(
      { filter: { status: ["dead"] }, frozenAt: await store.now(), limit: 10 },
      { delayMs: 0, runAt: null, attempts: 1 },
      why,
    );
    expect(changes).toHaveLength(1);
    expect((await store.find({}, { limit: 10 })).jobs).toHaveLength(4);
    expect((await store.get([kept]))[0]).toMatchObject({ status: "succeeded", result: "1" });
    expect((await store.count())[0]).toMatchObject({ ready: 2, delayed: 1, succeeded: 1 });
    await store.prune([{ queue: null, status: "succeeded", olderThanMs: 0, keep: null }], 10);
    await store.close();
    expect(await meta()).toMatchObject({ schema: String(next) });
  });

  it("refuse a newer schema that needs newer code, and say which", async () => {
    const store = postgresStore({ pool: place.pool, schema: place.schema });
    await store.open();
    await store.close();
    const next = MIGRATIONS.length + 1;
    await place.pool.query(`UPDATE "${place.schema}".meta SET value = '${next}'
      WHERE key IN ('schema', 'works_with')`);
    await expect(store.open()).rejects.toThrow(StoreOpenError);
    await expect(store.open()).rejects.toThrow(`needs code of version ${next} or newer`);
    await place.pool.query(`DELETE FROM "${place.schema}".meta WHERE key = 'works_with'`);
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
    expect([FUNCTIONS_REVISION, hash]).toEqual([12, "a38ac53b8534"]);
  });
});
