import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, it } from "vitest";
import { StoreOpenError } from "../../core/errors.ts";
import { adoptAll, adoptedJob, idsOf, newJob } from "../../testing/conformance/new-job.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { sqliteStore } from "./index.ts";
import { MIGRATIONS } from "./migrations.ts";

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-migrations-"));
  file = join(folder, "jobs.db");
});
afterEach(() => rm(folder, { recursive: true }));

function change(sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

function meta(): Record<string, unknown> {
  const database = new DatabaseSync(file);
  const rows = database.prepare("SELECT key, value FROM holdfast_meta").all();
  database.close();
  return Object.fromEntries(rows.map((row) => [row["key"], row["value"]]));
}

async function openAndClose(): Promise<void> {
  const store = sqliteStore({ file });
  await store.open();
  await store.close();
}

async function refuses(advice: RegExp): Promise<void> {
  const store = sqliteStore({ file });
  await assert.rejects(store.open(), (error) => {
    assert.ok(error instanceof StoreOpenError, String(error));
    assert.match(error.message, advice);
    return true;
  });
}

describe("the version of a file", () => {
  it("is written with the oldest code it serves", async () => {
    await openAndClose();
    const { schema, serves } = meta();
    assert.equal(Number(schema), MIGRATIONS.length);
    assert.ok(Number(serves) <= Number(schema));
  });

  it("that is older is brought up to date, and its jobs are still there", async () => {
    const META = "CREATE TABLE holdfast_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT";
    const first = MIGRATIONS[0] ?? "";
    change(`${META}; ${first}; INSERT INTO holdfast_meta VALUES ('schema', '1')`);
    change(`
      INSERT INTO holdfast_queue (q, name, ready) VALUES (1, 'mail', 1);
      INSERT INTO holdfast_line (line, q, grp, state) VALUES (1, 1, '', 1);
      INSERT INTO holdfast_job (seq, id, q, grp, type, prio, created_at, payload)
        VALUES (2, 'old', 1, '', 'email.send', 100, 1, '{}');
      INSERT INTO holdfast_ready VALUES (1, 100, 2, 0, 3, 0, 0, 0, NULL, 0);
      UPDATE holdfast_head SET seq = 2`);
    const store = sqliteStore({ file });
    await store.open();
    assert.deepEqual(idsOf((await store.lease(leaseRequest(1))).jobs), ["old"]);
    await store.close();
    assert.equal(meta()["schema"], String(MIGRATIONS.length));
  });

  it("that is older counts who was dead already", async () => {
    const store = sqliteStore({ file });
    await store.open();
    await adoptAll(store, [adoptedJob({ status: "dead", type: "x", finishedAt: 2_000 })]);
    await store.close();
    change(`
      DROP TRIGGER holdfast_dead_came;
      DROP TRIGGER holdfast_dead_went;
      DROP TABLE holdfast_dead_count;
      DROP INDEX holdfast_dead_fingerprint;
      DROP INDEX holdfast_dead_category;
      DROP INDEX holdfast_dead_type;
      DROP INDEX holdfast_dead_group;
      UPDATE holdfast_meta SET value = '5' WHERE key = 'schema'`);
    await store.open();
    const [counted] = await store.countDead({ by: "type", limit: 10 });
    assert.deepEqual([counted?.key, counted?.count, counted?.firstAt], ["x", 1, 2_000]);
    await store.close();
  });

  it("whose triggers are gone is refused", async () => {
    await openAndClose();
    change("DROP TRIGGER holdfast_dead_went");
    await refuses(/no trigger holdfast_dead_went as it should be/);
  });

  it("that is newer is accepted if it serves this code", async () => {
    await openAndClose();
    const next = MIGRATIONS.length + 1;
    change(`
      UPDATE holdfast_meta SET value = '${next}' WHERE key = 'schema';
      UPDATE holdfast_meta SET value = '${MIGRATIONS.length}' WHERE key = 'serves';
      ALTER TABLE holdfast_job ADD COLUMN colour TEXT`);
    const store = sqliteStore({ file });
    await store.open();
    const job = newJob();
    await store.insert([job]);
    assert.deepEqual(idsOf((await store.lease(leaseRequest(1))).jobs), [job.id]);
    await store.close();
    // Older code changes nothing about it.
    assert.deepEqual(meta(), { schema: String(next), serves: String(MIGRATIONS.length) });
  });

  it("that is newer is refused if it does not serve this code, and says what to do", async () => {
    await openAndClose();
    change("UPDATE holdfast_meta SET value = '99'");
    await refuses(/newer Holdfast \(schema 99.*upgrade the holdfast package/);
    change("DELETE FROM holdfast_meta WHERE key = 'serves'");
    await refuses(/newer Holdfast \(schema 99.*upgrade the holdfast package/);
  });
});

describe("a file whose layout is not known", () => {
  it("is refused if a column is missing, under whatever version", async () => {
    await openAndClose();
    change("ALTER TABLE holdfast_leased DROP COLUMN capped");
    await refuses(/does not know \(there is no column holdfast_leased\.capped .*another path/);
  });

  it("is refused if a column or a key is made in another way", async () => {
    await openAndClose();
    change(`
      DROP TABLE holdfast_later;
      CREATE TABLE holdfast_later (seq INTEGER PRIMARY KEY, q TEXT NOT NULL, run_at INTEGER NOT NULL,
        attempts INTEGER NOT NULL, max_attempts INTEGER NOT NULL, crashes INTEGER NOT NULL,
        fence INTEGER NOT NULL, settled_fence INTEGER NOT NULL, flags INTEGER NOT NULL) STRICT;
      CREATE INDEX holdfast_later_due ON holdfast_later (q, run_at, seq)`);
    await refuses(/there is no column holdfast_later\.q as it should be/);
  });

  it("is refused if an index is missing", async () => {
    await openAndClose();
    change("DROP INDEX holdfast_line_open");
    await refuses(/there is no index holdfast_line_open/);
  });

  it("is refused if it has tables of ours and no version, and is left as it is", async () => {
    change("CREATE TABLE holdfast_job (id TEXT, state TEXT)");
    await refuses(/holdfast_job is there, but no version.*Move the file away/);
    const database = new DatabaseSync(file);
    const tables = database.prepare("SELECT name FROM sqlite_schema").all();
    database.close();
    assert.deepEqual(
      tables.map(({ name }) => name),
      ["holdfast_job"],
    );
  });

  it("is refused if a step of the migration does not fit, and is left as it is", async () => {
    change(`
      CREATE TABLE holdfast_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
      INSERT INTO holdfast_meta VALUES ('schema', '1');
      CREATE TABLE holdfast_job (id TEXT)`);
    await refuses(/does not know \(no such table: .*holdfast_leased.*\)/);
    assert.deepEqual(meta(), { schema: "1" });
  });
});
