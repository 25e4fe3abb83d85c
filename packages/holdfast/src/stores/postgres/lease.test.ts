/** What only a large or a worn place shows of a lease. */
import assert from "node:assert/strict";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import type { Store } from "../../core/store.ts";
import { idsOf, insertOne, insertSome, QUEUE } from "../../testing/conformance/new-job.ts";
import { retry, settle } from "../../testing/conformance/settling.ts";
import { leaseRequest, take, takeExactly, takeOne } from "../../testing/conformance/take.ts";
import { postgresStore } from "./index.ts";

let place: PostgresSchema;
let store: Store;
let pool: pg.Pool;

beforeAll(async () => {
  place = await postgresSchema();
  // One connection, so that what it has read can be asked of itself.
  pool = new pg.Pool({ connectionString: place.url, max: 1 });
});
beforeEach(async () => {
  store = postgresStore({ pool, schema: place.schema });
  await store.open();
});
afterEach(async () => {
  await store.close();
  await place.clear();
});
afterAll(async () => {
  await pool.end();
  await place.drop();
});

/** By everybody, of the table and its index. Null before PostgreSQL 15, which counts when it likes. */
async function blocksRead(): Promise<number | null> {
  const version = Number((await pool.query("SHOW server_version_num")).rows[0].server_version_num);
  if (version < 150_000) return null;
  await pool.query("SELECT pg_stat_force_next_flush()");
  const { rows } = await pool.query<{ n: string }>(
    `SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit AS n
     FROM pg_statio_user_tables WHERE schemaname = $1 AND relname = 'ready'`,
    [place.schema],
  );
  return Number(rows[0]?.n);
}

/** Leaves so many dead rows at the head of the line, which no vacuum may take away. */
async function wearOut(rows: number): Promise<void> {
  const pin = await place.connect();
  await pin.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class");
  const { schema } = place;
  await place.pool.query(`
    INSERT INTO "${schema}".ready
    SELECT q, 100, -n, 0, 0, NULL, 0, 5, 0, 0, ''
    FROM "${schema}".queue, generate_series(1, ${rows}) n WHERE name = '${QUEUE}'`);
  await place.pool.query(`DELETE FROM "${schema}".ready WHERE seq < 0`);
}

describe("a lease", () => {
  it("goes on behind the dead rows of a worn line, in its order", async () => {
    const jobs = await insertSome(store, 60);
    await wearOut(60_000);
    const taken: string[] = [];
    const blocks: number[] = [];
    for (let call = 0; call < 6; call++) {
      const before = await blocksRead();
      taken.push(...idsOf(await takeExactly(store, 5)));
      const after = await blocksRead();
      if (before !== null && after !== null) blocks.push(after - before);
    }
    expect(taken).toEqual(idsOf(jobs.slice(0, 30)));
    const [first, ...others] = blocks;
    if (first !== undefined) {
      expect(first).toBeGreaterThan(500);
      expect(Math.min(...others)).toBeLessThan(100);
    }
    const urgent = await insertOne(store, { priority: 1 });
    expect((await takeOne(store)).id).toBe(urgent.id);
  });

  it("hands out all jobs of a worn line, also those that came back behind its back", async () => {
    const jobs = await insertSome(store, 20);
    await wearOut(60_000);
    const [first] = await takeExactly(store, 10);
    assert.ok(first);
    await settle(store, first, retry(0));
    const rest = await takeExactly(store, 11);
    expect(new Set(idsOf(rest))).toEqual(new Set([first.id, ...idsOf(jobs.slice(10))]));
  });

  it("sees other lines that come up beside a worn one", async () => {
    await insertSome(store, 40);
    await wearOut(60_000);
    await takeExactly(store, 10);
    const lone = await insertOne(store, { group: "a" });
    const replies = [await store.lease(leaseRequest(5)), await store.lease(leaseRequest(5))];
    expect(idsOf(replies.flatMap(({ jobs }) => jobs))).toContain(lone.id);
  });

  it("passes thousands of held lines in bounded steps, and finds the open one behind", async () => {
    await insertSome(store, 1, { group: "a" });
    await store.limit([{ queue: QUEUE, group: "a", weight: 1 }]);
    const { schema } = place;
    await place.pool.query(`
      INSERT INTO "${schema}".line SELECT q, 'b' || n, NULL, NULL, ${Number.MAX_SAFE_INTEGER}
        FROM "${schema}".queue, generate_series(1, 6000) n;
      INSERT INTO "${schema}".ready SELECT q, 100, -n, 0, 0, NULL, 0, 5, 0, 0, 'b' || n
        FROM "${schema}".queue, generate_series(1, 6000) n`);
    const open = await insertOne(store, { group: "c" });
    const taken = [...(await take(store, 2)), ...(await take(store, 2))];
    expect(idsOf(taken)).toContain(open.id);
    // With nothing but held lines left, the search comes around and then says so.
    const waits: (number | null)[] = [];
    for (let call = 0; call < 12; call++) waits.push((await store.lease(leaseRequest(1))).nextInMs);
    expect(waits).toContain(null);
    await place.pool.query(`DELETE FROM "${schema}".ready WHERE seq < 0`);
  });
});
