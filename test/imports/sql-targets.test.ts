/** What a table of SQL makes of values, and of constraints that wait for the end of a transaction. */
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresTarget } from "../../packages/imports/src/targets/postgres-target.ts";
import { sqliteTarget } from "../../packages/imports/src/targets/sqlite-target.ts";
import type { ImportTarget } from "../../packages/imports/src/targets/target.ts";
import { postgresDatabase } from "../servers/postgres-database.ts";

type Row = Readonly<Record<string, string | number>>;

const batch = (job: string, key: string, rows: readonly Row[]) => ({
  ...{ job, fence: 1, after: 0, upTo: 10, totalRows: rows.length, keep: 100, failures: [] },
  rows: rows.map((values, at) => ({ row: at + 2, key: { [key]: values[key]! }, values })),
});

async function begun(target: ImportTarget, job: string, key: string): Promise<ImportTarget> {
  await target.prepare([key]);
  await target.begin({ job, fence: 1, type: "t", file: "f" });
  return target;
}

it("a number becomes the text that a person sees, in a column of text of SQLite", async () => {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE ap (invoice TEXT PRIMARY KEY, amount REAL, n INTEGER, any)");
  const target = await begun(sqliteTarget({ db, table: "ap" }), "ap", "invoice");
  const rows = [
    { invoice: 1001, amount: 7, n: 3, any: 5 },
    { invoice: 0.5, amount: 1e21 },
  ];
  expect(await target.write(batch("ap", "invoice", rows))).toMatchObject({
    inserted: 2,
    failures: [],
  });
  const found = db.prepare("SELECT *, typeof(amount) AS type FROM ap ORDER BY n DESC").all();
  expect(found.map((one) => ({ ...one }))).toEqual([
    { invoice: "1001", amount: 7, n: 3, any: 5, type: "real" },
    { invoice: "0.5", amount: 1e21, n: null, any: null, type: "real" },
  ]);
  expect(await target.existing([{ invoice: 1001 }, { invoice: 7 }])).toEqual([true, false]);
  db.close();
});

it("a table of SQLite that rolls everything back for one row is refused, and nothing is half written", async () => {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE town (name TEXT PRIMARY KEY, zip TEXT UNIQUE ON CONFLICT ROLLBACK)");
  const target = await begun(sqliteTarget({ db, table: "town" }), "town", "name");
  const rows = ["1", "2", "2", "3"].map((zip, at) => ({ name: `town ${at}`, zip }));
  await expect(target.write(batch("town", "name", rows))).rejects.toThrow(/ON CONFLICT ROLLBACK/);
  expect(db.prepare("SELECT * FROM town").all()).toEqual([]);
  const begin = { job: "town", fence: 2, type: "t", file: "f" };
  expect(await target.begin(begin)).toMatchObject({ upTo: 0, inserted: 0 });
  db.close();
});

describe("on PostgreSQL", () => {
  let pool: pg.Pool;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const made = await postgresDatabase();
    ({ drop } = made);
    pool = new pg.Pool({ connectionString: made.url, max: 2 });
    // The database is dropped while its last connections are closing.
    pool.on("error", () => {});
  });
  afterAll(async () => {
    await pool?.end();
    await drop?.();
  });

  it("a row that a constraint refuses at the end of a transaction fails alone", async () => {
    await pool.query(`CREATE TABLE city (name text PRIMARY KEY);
      INSERT INTO city VALUES ('Rome');
      CREATE TABLE person (email text PRIMARY KEY, city text REFERENCES city INITIALLY DEFERRED,
        boss text REFERENCES person INITIALLY DEFERRED)`);
    const target = await begun(postgresTarget({ pool, table: "person" }), "person", "email");
    const rows = [
      { email: "ann", city: "Rome" },
      { email: "bob", city: "Atlantis" },
      { email: "cid", city: "Rome" },
    ];
    const answer = await target.write(batch("person", "email", rows));
    expect(answer).toMatchObject({ inserted: 2, updated: 0, failures: [{ row: 3 }] });
    expect(answer.failures[0]?.reason).toContain("foreign key");
    const { rows: found } = await pool.query("SELECT email FROM person ORDER BY 1");
    expect(found).toEqual([{ email: "ann" }, { email: "cid" }]);
  });

  it("rows that need each other until then are taken, also beside one that is refused", async () => {
    await pool.query(`CREATE TABLE staff (email text PRIMARY KEY, age int CHECK (age > 0),
      boss text REFERENCES staff INITIALLY DEFERRED)`);
    const target = await begun(postgresTarget({ pool, table: "staff" }), "staff", "email");
    const rows = [
      { email: "ann", boss: "cid", age: 1 },
      { email: "bob", age: 0 },
      { email: "cid", age: 2 },
    ];
    const answer = await target.write(batch("staff", "email", rows));
    expect(answer).toMatchObject({ inserted: 2, failures: [{ row: 3 }] });
  });

  it("takes a table that has partitions", async () => {
    await pool.query(`CREATE TABLE part (email text PRIMARY KEY, n int) PARTITION BY HASH (email);
      CREATE TABLE part_0 PARTITION OF part FOR VALUES WITH (MODULUS 2, REMAINDER 0);
      CREATE TABLE part_1 PARTITION OF part FOR VALUES WITH (MODULUS 2, REMAINDER 1);
      INSERT INTO part VALUES ('ann', 0)`);
    const target = await begun(postgresTarget({ pool, table: "part" }), "part", "email");
    const rows = ["ann", "bob", "cid", "bob"].map((email, n) => ({ email, n }));
    const answer = await target.write(batch("part", "email", rows));
    expect(answer).toMatchObject({ inserted: 2, updated: 2, failures: [] });
    const { rows: found } = await pool.query("SELECT n FROM part ORDER BY email");
    expect(found).toEqual([{ n: 0 }, { n: 3 }, { n: 2 }]);
  });

  it("a dry run goes on past keys that their column cannot read", async () => {
    await pool.query("CREATE TABLE item (n int PRIMARY KEY); INSERT INTO item VALUES (1), (3)");
    const target = await begun(postgresTarget({ pool, table: "item" }), "item", "n");
    const keys = ["1", "two", "3", "4", "five"].map((n) => ({ n }));
    expect(await target.existing(keys)).toEqual([true, false, true, false, false]);
  });

  it("a connection that ends between two statements fails the batch, and no more", async () => {
    await pool.query("CREATE TABLE cut (n int PRIMARY KEY)");
    let isCut = false;
    const cutting = {
      end: () => pool.end(),
      async connect() {
        const client = await pool.connect();
        const query = async (text: string, values?: unknown[]) => {
          const reply = await client.query(text, values);
          if (!isCut || !text.startsWith("BEGIN")) return reply;
          const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
          const ended = new Promise((resolve) => client.once("end", resolve));
          await pool.query("SELECT pg_terminate_backend($1)", [rows[0].pid]);
          await ended;
          return reply;
        };
        return new Proxy(client, {
          get: (target, name) =>
            name === "query" ? query : bound(target, Reflect.get(target, name)),
        });
      },
    };
    const target = await begun(postgresTarget({ pool: cutting, table: "cut" }), "cut", "n");
    isCut = true;
    await expect(target.write(batch("cut", "n", [{ n: 1 }]))).rejects.toThrow();
    isCut = false;
    expect(await target.write(batch("cut", "n", [{ n: 1 }]))).toMatchObject({ inserted: 1 });
  });
});

function bound(target: object, value: unknown): unknown {
  return typeof value === "function" ? (value as () => unknown).bind(target) : value;
}
