/**
 * Places for jobs on the shared PostgreSQL server: a schema for each test file, emptied after each
 * test, so that files run in parallel and none waits for tables to be made again and again.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import pg from "pg";
import { serverUrl } from "./server-desk.ts";

const TABLES =
  `queue line hold job ready delayed leased done tally tally_late trail step log attempt
  key gone outbox ledger record`.split(/\s+/);

/** The counts that are kept, and those that are counted. They must never differ. */
const TALLY = `
  SELECT q, sum(ready)::int AS ready, sum(delayed)::int AS delayed, sum(succeeded)::int AS succeeded,
    sum(dead)::int AS dead, sum(cancelled)::int AS cancelled
  FROM (SELECT q, ready, delayed, succeeded, dead, cancelled FROM "$".tally UNION ALL
    SELECT q, ready, delayed, succeeded, dead, cancelled FROM "$".tally_late) t
  GROUP BY q HAVING sum(abs(ready) + abs(delayed) + abs(succeeded) + abs(dead) + abs(cancelled)) > 0
  ORDER BY q`;
const COUNTED = `
  SELECT q.q, r.n::int AS ready, d.n::int AS delayed, f.succeeded::int, f.dead::int,
    f.cancelled::int
  FROM "$".queue q,
    LATERAL (SELECT count(*) AS n FROM "$".ready x WHERE x.q = q.q) r,
    LATERAL (SELECT count(*) AS n FROM "$".delayed x WHERE x.q = q.q) d,
    LATERAL (SELECT count(*) FILTER (WHERE status = 1) AS succeeded,
      count(*) FILTER (WHERE status = 2) AS dead, count(*) FILTER (WHERE status = 3) AS cancelled
      FROM "$".done x WHERE x.q = q.q) f
  ORDER BY q.q`;
/** Every job stands in exactly one place. */
const MISPLACED = `
  SELECT j.seq FROM "$".job j WHERE 1 <> (
    (SELECT count(*) FROM "$".ready x WHERE x.seq = j.seq) +
    (SELECT count(*) FROM "$".delayed x WHERE x.seq = j.seq) +
    (SELECT count(*) FROM "$".leased x WHERE x.seq = j.seq) +
    (SELECT count(*) FROM "$".done x WHERE x.seq = j.seq))`;

export interface PostgresSchema {
  readonly url: string;
  readonly pool: pg.Pool;
  readonly schema: string;
  /** A connection of one's own; closed with the schema. */
  connect(): Promise<pg.Client>;
  /** Checks what must always be so, then empties all tables. */
  clear(): Promise<void>;
  drop(): Promise<void>;
}

export async function postgresSchema(): Promise<PostgresSchema> {
  const url = await serverUrl("postgres");
  const schema = `test_${randomBytes(6).toString("hex")}`;
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  const clients: pg.Client[] = [];
  const rows = async (sql: string): Promise<unknown[]> =>
    (await pool.query(sql.replaceAll("$", schema))).rows;
  return {
    url,
    pool,
    schema,
    async connect() {
      const client = new pg.Client(url);
      clients.push(client);
      await client.connect();
      return client;
    },
    async clear() {
      for (const client of clients.splice(0)) await client.end();
      const numbers = (row: unknown) => Object.values(row as object).map(Number);
      const counted = (await rows(COUNTED)).map(numbers);
      const kept = (await rows(TALLY)).map(numbers);
      const isSome = ([, ...counts]: number[]) => counts.some((count) => count !== 0);
      assert.deepEqual(kept.filter(isSome), counted.filter(isSome), "the tally is what there is");
      assert.deepEqual(await rows(MISPLACED), [], "every job stands in one place");
      await pool.query(TABLES.map((table) => `DELETE FROM "${schema}".${table};`).join(" "));
    },
    async drop() {
      for (const client of clients.splice(0)) await client.end();
      await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      await pool.end();
    },
  };
}
