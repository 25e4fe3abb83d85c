/**
 * The statements of the verbs that run all day, on tables that have grown: none may walk the jobs,
 * what is ready, what waits or what is done. The database counts for itself: a store is given a pool
 * of one connection that is inside one long transaction, and asked afterwards which tables were
 * scanned in it.
 */
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import type { Store } from "../../core/store.ts";
import { insertSome, key, newJob, newJobs, QUEUE } from "../../testing/conformance/new-job.ts";
import { leaseRef, retry, settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest } from "../../testing/conformance/take.ts";
import { LONG_MS } from "../../testing/conformance/times.ts";
import { postgresStore } from "./index.ts";
import type { PoolLike, QueryLike } from "./pool-like.ts";

const LARGE = [
  "job",
  "ready",
  "delayed",
  "done",
  "key",
  "gone",
  "job_details",
  "step",
  "log",
  "attempt",
];
const ROWS = 20_000;

let place: PostgresSchema;
let client: pg.Client;
let store: Store;

/** Every transaction of the store becomes a part of ours. */
function inOneTransaction(inner: pg.Client): PoolLike {
  const savepoints: [RegExp, string][] = [
    [/^BEGIN[^;]*/, "SAVEPOINT step"],
    [/^COMMIT/, "RELEASE SAVEPOINT step"],
    [/^ROLLBACK$/, "ROLLBACK TO SAVEPOINT step; RELEASE SAVEPOINT step"],
  ];
  const put = (text: string) => savepoints.reduce((sql, [from, to]) => sql.replace(from, to), text);
  let last: Promise<unknown> = Promise.resolve();
  const query = (config: QueryLike) => {
    const values = [...(config.values ?? [])];
    const next = { ...config, text: put(config.text), values } as pg.QueryArrayConfig;
    const answer = last.then(() => inner.query(next));
    last = answer.catch(() => {});
    return answer;
  };
  return { connect: async () => ({ query, release: () => {} }), end: async () => {} };
}

beforeAll(async () => {
  place = await postgresSchema();
  const { pool, schema } = place;
  const filler = postgresStore({ pool, schema });
  await filler.open();
  await insertSome(filler, 1);
  await filler.limit([{ queue: QUEUE, group: "g1", maxActive: 1 }]);
  await filler.close();
  const rows = `generate_series(100000, ${100_000 + ROWS}) AS n`;
  const body = "n, 1, (SELECT q FROM queue), 100, gen_random_uuid(), 'filler', 'x', '{}'";
  await pool.query(`
    SET search_path = "${schema}";
    INSERT INTO job (seq, created_at, q, prio, id, grp, type, payload) SELECT ${body} FROM ${rows};
    INSERT INTO ready SELECT q, prio, seq, 0, 0, NULL, 0, 5, 0, 0, grp FROM job WHERE seq % 3 = 0;
    INSERT INTO delayed SELECT q, prio, seq, 0, 0, 9e15, 0, 5, 0, 0, grp FROM job WHERE seq % 3 = 1;
    INSERT INTO done SELECT q, 1, false, seq, 1, 1, 1, NULL, 1, 1, 5, 0, 0, 'w' FROM job
      WHERE seq % 3 = 2;
    INSERT INTO key SELECT 1, NULL, id, seq::text, 'hash' FROM job;
    INSERT INTO gone SELECT gen_random_uuid(), 1, 9e15 FROM ${rows};
    INSERT INTO job_details (seq, updated_at) SELECT seq, 1 FROM job;
    INSERT INTO step (seq, name, value) SELECT seq, 'a', '1' FROM job;
    INSERT INTO log SELECT seq, 1, 1, 'x' FROM job;
    INSERT INTO attempt SELECT seq, 1, 1, 1, 1, 1, 'w', 'failed' FROM job;
    RESET search_path;`);
  client = await place.connect();
  store = postgresStore({ pool: inOneTransaction(client), schema, pooler: "transaction" });
  await store.open();
  await client.query("BEGIN");
});
afterAll(async () => {
  await store.close();
  await client.query("ROLLBACK");
  await place.drop();
});

/** How many rows of a table were fetched in this transaction. */
async function fetched(inner: pg.Client, table: string): Promise<number> {
  const { rows } = await inner.query<{ n: string }>(
    "SELECT idx_tup_fetch AS n FROM pg_stat_xact_user_tables WHERE relid = $1::regclass",
    [table],
  );
  return Number(rows[0]?.n);
}

/** Which large tables were scanned since the last time. */
async function scanned(): Promise<Record<string, number>> {
  const { rows } = await client.query<{ relname: string; seq_scan: string }>(
    "SELECT relname, seq_scan FROM pg_stat_xact_user_tables WHERE schemaname = $1",
    [place.schema],
  );
  const all = rows.map(({ relname, seq_scan }) => [relname, Number(seq_scan)] as const);
  return Object.fromEntries(all.filter(([name, scans]) => LARGE.includes(name) && scans > 0));
}

describe("the plans of the statements that run all day", () => {
  it("reach large tables by an index", async () => {
    await store.insert(newJobs(50));
    await store.insert(newJobs(5, { delayMs: LONG_MS, tags: ["a"] }));
    for (let group = 0; group < 5; group++) await store.insert(newJobs(4, { group: `g${group}` }));
    const keyed = [newJob({ dedupe: key("k") }), newJob({ dedupe: key("k") })];
    await store.insert(keyed);
    expect(await store.insert(keyed)).toMatchObject([{ outcome: "duplicate" }, {}]);
    expect(await scanned(), "insert").toEqual({});

    for (let round = 0; round < 3; round++) {
      const { jobs } = await store.lease(leaseRequest(round === 0 ? 2 : 20));
      expect(jobs.length).toBeGreaterThan(0);
      expect(await scanned(), "lease").toEqual({});
      await store.renew(jobs.map(leaseRef), LONG_MS);
      const settlements = jobs.map((job, index) =>
        index % 3 === 0
          ? settlement(job, retry(0), { updates: { logs: ["x"], checkpoint: "1" } })
          : settlement(job, succeed(), {
              discard: index % 3 === 1,
              spawn: index === 2 ? [newJob()] : [],
            }),
      );
      await store.settle(settlements);
      await store.settle(settlements);
      expect(await scanned(), "settle").toEqual({});
      await store.get(jobs);
      expect(await scanned(), "get").toEqual({});
    }

    await store.insert(newJobs(5, { payload: JSON.stringify("x".repeat(10_000)) }));
    for (const maxBytes of [100, 45_000, 4_000_000]) {
      const { jobs } = await store.lease(leaseRequest(20, { maxBytes, worker: "lost" }));
      expect(jobs.length).toBeGreaterThan(0);
    }
    expect(await scanned(), "lease within bytes").toEqual({});
    expect(await store.disown({ worker: "lost", queues: [QUEUE], except: [] })).toBeGreaterThan(0);
    expect(await scanned(), "disown").toEqual({});
    await store.lease({ ...leaseRequest(5), leaseMs: 0 });
    expect(await store.reap({ limit: 10 })).not.toEqual([]);
    expect(await scanned(), "reap").toEqual({});
    await store.prune([{ queue: null, status: "succeeded", olderThanMs: 0, keep: 5 }], 10);
    expect(await scanned(), "prune").toEqual({});
    await store.count();
    await store.place({ id: keyed[0]?.id ?? "" });
    await store.lines(QUEUE, { limit: 10 });
    expect(await scanned(), "count, place and lines").toEqual({});
  });

  it("reach large tables by an index when somebody looks and operates", async () => {
    const why = { reason: null, by: null };
    // As autovacuum does: without it a walk backwards is thought to cost more than a scan and a sort.
    for (const table of ["job", "done"]) await client.query(`ANALYZE "${place.schema}".${table}`);
    const page = await store.find({ type: "email.send" }, { limit: 10 });
    await store.find({ status: ["dead"] }, { limit: 10 });
    expect(await scanned(), "find").toEqual({});
    const ids = page.jobs.slice(0, 5).map(({ id }) => ({ id }));
    await store.reschedule({ ids }, { delayMs: 0, runAt: null }, why);
    await store.cancel({ ids }, why);
    await store.revive({ ids }, { delayMs: 0, runAt: null, attempts: 1 }, why);
    await store.remove({ ids }, why);
    expect(await scanned(), "operate").toEqual({});
  });
});

describe("the plans of statements for a batch", () => {
  it("look for each of its jobs, also where a vacuum has seen the tables empty", async () => {
    const own = await postgresSchema();
    const { pool, schema } = own;
    const keyed = () =>
      newJobs(300).map((job, n) => ({ ...job, dedupe: key(`k${n}`, "until-finished") }));
    const before = postgresStore({ pool, schema });
    await before.open();
    await before.insert(keyed());
    const { jobs: first } = await before.lease(leaseRequest(300));
    await before.settle(first.map((job) => settlement(job, succeed(), { discard: true })));
    await before.close();
    for (const table of ["leased", "job", "key"]) await pool.query(`VACUUM "${schema}".${table}`);

    const inner = await own.connect();
    const one = postgresStore({ pool: inOneTransaction(inner), schema, pooler: "transaction" });
    await one.open();
    await inner.query("BEGIN");
    const work = async (what: string, table: string, act: () => Promise<unknown>) => {
      const earlier = await fetched(inner, `"${schema}".${table}`);
      await act();
      const rows = (await fetched(inner, `"${schema}".${table}`)) - earlier;
      expect(rows, `${what} of ten of 300`).toBeLessThan(60);
    };
    await one.insert(keyed());
    const { jobs } = await one.lease(leaseRequest(300));
    expect(jobs).toHaveLength(300);
    await work("an insert with keys", "key", () => one.insert(keyed().slice(0, 10)));
    const [some, others] = [jobs.slice(0, 10), jobs.slice(10, 20)];
    await work("a renewal", "leased", () => one.renew(some.map(leaseRef), LONG_MS));
    const plain = some.map((job) => settlement(job, succeed()));
    await work("a settle", "leased", () => one.settle(plain));
    const withResult = others.map((job) => settlement(job, succeed("1")));
    await work("a settle with results", "leased", () => one.settle(withResult));
    const keys = jobs.slice(20, 30).map((job) => settlement(job, succeed()));
    await work("a settle that frees keys", "key", () => one.settle(keys));
    const last = jobs.slice(30, 40);
    const discards = last.map((job) => settlement(job, succeed(), { discard: true }));
    await work("a settle that discards", "job", () => one.settle(discards));
    await work("a look", "job", () => one.get(some));
    await one.close();
    await inner.query("ROLLBACK");
    await own.drop();
  });
});
