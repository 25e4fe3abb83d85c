/**
 * Places for jobs on the shared PostgreSQL server: a schema for each test file, emptied after each
 * test, so that files run in parallel and none waits for tables to be made again and again.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import pg from "pg";
import {
  postgresSchemaSql,
  postgresStore,
} from "../../packages/holdfast/src/stores/postgres/index.ts";
import { serverUrl } from "./server-desk.ts";

const TABLES =
  `queue line hold job ready delayed leased done tally tally_late job_details step log attempt
  key gone outbox ledger record disowned open_line queue_block`.split(/\s+/);

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

/** A line with ready jobs is in the ring, or a hold or a cap keeps it out; see `line-ring.ts`. */
const FORGOTTEN = `
  SELECT DISTINCT r.q, r.grp FROM "$".ready r
  JOIN "$".queue q ON q.q = r.q AND q.has_ring AND q.ring_from IS NULL
  LEFT JOIN "$".line l ON l.q = r.q AND l.grp = r.grp
  WHERE NOT EXISTS (SELECT 1 FROM "$".open_line o WHERE o.q = r.q AND o.grp = r.grp)
    AND NOT coalesce(l.is_shut, false)
    AND coalesce(coalesce(l.max_active, q.max_active_per_group) > (
      SELECT count(*) FROM "$".leased x WHERE x.q = r.q AND x.grp = r.grp), true)`;

export interface PostgresSchema {
  readonly url: string;
  /** Straight to the server. */
  readonly pool: pg.Pool;
  /** The way of the stores and of callers' transactions: the same, or through a pooler. */
  readonly way: { readonly pool: pg.Pool; readonly pooler: "session" | "transaction" };
  readonly schema: string;
  /** Sets the clock of a schema whose clock stands still. Milliseconds. */
  setClock(now: number): Promise<void>;
  /** A connection of one's own, by the way of the stores; closed with the schema. */
  connect(): Promise<pg.Client>;
  /** Checks what must always be so, then empties all tables. */
  clear(): Promise<void>;
  drop(): Promise<void>;
}

/** The store asks one function what time it is: here it answers what a test says. */
const STILL_CLOCK = `
  CREATE TABLE "$".test_clock (one boolean PRIMARY KEY DEFAULT true, us bigint NOT NULL);
  INSERT INTO "$".test_clock (us) VALUES (0);
  CREATE OR REPLACE FUNCTION "$".clock_us() RETURNS bigint LANGUAGE sql VOLATILE
    AS 'SELECT us FROM "$".test_clock WHERE one'`;

/** Connections are kept: a new one reads all our functions again. */
const POOL = { max: 10, idleTimeoutMillis: 0 };

export interface SchemaOptions {
  /** The clock stands still until it is set. Else it is the server's. */
  readonly hasStillClock?: boolean;
  /** The URL of a pooler in transaction mode in front of the server. */
  readonly poolerUrl?: string;
}

export async function postgresSchema(options: SchemaOptions = {}): Promise<PostgresSchema> {
  const url = await serverUrl("postgres");
  const schema = `test_${randomBytes(6).toString("hex")}`;
  const pool = new pg.Pool({ connectionString: url, ...POOL });
  const { poolerUrl } = options;
  const way =
    poolerUrl === undefined
      ? ({ pool, pooler: "session" } as const)
      : {
          pool: new pg.Pool({ connectionString: poolerUrl, ...POOL }),
          pooler: "transaction" as const,
        };
  const clients: pg.Client[] = [];
  const rows = async (sql: string): Promise<unknown[]> =>
    (await pool.query(sql.replaceAll("$", schema))).rows;
  if (options.hasStillClock === true) {
    await pool.query(postgresSchemaSql({ schema }));
    await rows(STILL_CLOCK);
  }
  return {
    url,
    pool,
    way,
    schema,
    async setClock(now) {
      await pool.query(`UPDATE "${schema}".test_clock SET us = $1`, [Math.floor(now * 1_000)]);
    },
    async connect() {
      const client = new pg.Client(poolerUrl ?? url);
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
      assert.deepEqual(await rows(FORGOTTEN), [], "every open line is in the ring");
      await rows(TABLES.map((table) => `DELETE FROM "$".${table};`).join(" "));
      await rows('UPDATE "$".head SET clock = 0, ahead_mark = NULL, ahead_host = NULL');
    },
    async drop() {
      for (const client of clients.splice(0)) await client.end();
      if (way.pool !== pool) await way.pool.end();
      await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      await pool.end();
    },
  };
}

/** An empty place on such a schema, for the conformance suite and the property test. */
export async function postgresPlace(schema: PostgresSchema) {
  // Far from the host's own clock, so that whoever looks at that one is found out.
  let now = Date.UTC(2031, 0, 1);
  await schema.setClock(now);
  return {
    open: async () => postgresStore({ ...schema.way, schema: schema.schema }),
    advance: (ms: number) => schema.setClock((now += ms)),
    rewind: (ms: number) => schema.setClock((now -= ms)),
    async transaction() {
      const tx = await schema.connect();
      await tx.query("BEGIN");
      return {
        tx,
        commit: async () => void (await tx.query("COMMIT")),
        rollback: async () => void (await tx.query("ROLLBACK")),
      };
    },
    dispose: () => schema.clear(),
  };
}
