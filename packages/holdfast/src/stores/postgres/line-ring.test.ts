/** What a lease reads while thousands of lines are held or full, counted by the database itself. */
import type pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import type { Store } from "../../core/store.ts";
import { insertOne, newJob, newJobs, QUEUE } from "../../testing/conformance/new-job.ts";
import { settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest, take, takeOne } from "../../testing/conformance/take.ts";
import { LONG_MS } from "../../testing/conformance/times.ts";
import { postgresStore } from "./index.ts";

const LINES = 3_000;
const group = (n: number): string => `g${String(n).padStart(5, "0")}`;

let place: PostgresSchema;
let store: Store;
beforeEach(async () => {
  place = await postgresSchema();
  store = postgresStore({ pool: place.pool, schema: place.schema });
  await store.open();
});
afterEach(async () => {
  await store.close();
  await place.drop();
});

async function fillLines(): Promise<void> {
  const jobs = Array.from({ length: LINES }, (_, n) => newJob({ group: group(n) }));
  for (let at = 0; at < LINES; at += 1_000) await store.insert(jobs.slice(at, at + 1_000));
}

async function holdAll(forMs: number | null): Promise<void> {
  const hold = { forMs, reason: "cooling down", by: null };
  const change = (_: unknown, n: number) =>
    ({ queue: QUEUE, group: group(n), owner: "cooldown", hold }) as const;
  await store.hold(Array.from({ length: LINES }, change));
}

/** Leases until nothing is ready; answers when to come back. */
async function untilQuiet(): Promise<number | null> {
  for (let calls = 0; calls < 200; calls++) {
    const { nextInMs } = await store.lease(leaseRequest(10));
    if (nextInMs !== 0) return nextInMs;
  }
  throw new Error("the queue never came to rest");
}

/** Rows of lines, places and leases that one lease reads. */
async function rowsRead(limit: number): Promise<{ jobs: number; rows: number }> {
  const client: pg.Client = await place.connect();
  const count = async (): Promise<number> => {
    const { rows } = await client.query<{ n: string }>(
      `SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) AS n
       FROM pg_stat_xact_user_tables WHERE schemaname = $1`,
      [place.schema],
    );
    return Number(rows[0]?.n);
  };
  await client.query("BEGIN");
  const before = await count();
  const { rows } = await client.query<{ seq: string | null }>(
    `SELECT seq FROM "${place.schema}".lease(0, 'w', 60000, $1::integer, $1::integer,
      ARRAY[(SELECT q FROM "${place.schema}".queue)], ARRAY[$1::integer], ARRAY[$1::integer], ARRAY[NULL], ARRAY[0],
      ARRAY[NULL], ARRAY[NULL], ARRAY[NULL]::integer[], ARRAY[NULL]::bigint[], NULL)`,
    [limit],
  );
  const read = (await count()) - before;
  await client.query("ROLLBACK");
  return { jobs: rows.filter(({ seq }) => seq !== null).length, rows: read };
}

describe("thousands of held lines", () => {
  it("cost a poll nothing, and their end is named", async () => {
    await fillLines();
    await holdAll(LONG_MS);
    const waits = await untilQuiet();
    expect(waits).toBeGreaterThan(0);
    expect(waits).toBeLessThanOrEqual(LONG_MS);
    const { jobs, rows } = await rowsRead(10);
    expect(jobs).toBe(0);
    expect(rows).toBeLessThan(500);
  });

  it("do not stand before an open one", async () => {
    await fillLines();
    await holdAll(null);
    expect(await untilQuiet()).toBe(null);
    await store.insert(newJobs(5, { group: "z" }));
    expect(await rowsRead(5)).toMatchObject({ jobs: 5 });
    expect((await rowsRead(5)).rows).toBeLessThan(300);
    expect(await take(store, 5)).toHaveLength(5);
  });

  it("are open again when their holds end or are released", async () => {
    await fillLines();
    await holdAll(null);
    await untilQuiet();
    await store.hold([{ queue: QUEUE, group: group(7), owner: "cooldown", hold: null }]);
    expect((await takeOne(store)).group).toBe(group(7));
    await place.pool.query(`UPDATE "${place.schema}".line SET held_until = 1 WHERE held_until > 0`);
    const groups = new Set<string>();
    for (let calls = 0; calls < 100 && groups.size < LINES - 1; calls++) {
      for (const job of await take(store, 100)) groups.add(job.group);
    }
    expect(groups.size).toBe(LINES - 1);
  });
});

describe("thousands of full lines", () => {
  it("cost a poll nothing, and are open again when their jobs end", async () => {
    await store.limit([{ queue: QUEUE, group: null, maxActivePerGroup: 1 }]);
    await fillLines();
    await fillLines();
    const running = [];
    while (running.length < LINES) running.push(...(await take(store, 500)));
    expect(await untilQuiet()).toBe(null);
    const { jobs, rows } = await rowsRead(10);
    expect(jobs).toBe(0);
    expect(rows).toBeLessThan(500);
    const [first, second, third] = running;
    if (!first || !second || !third) throw new Error("nothing was leased");
    await store.settle([settlement(first, succeed()), settlement(second, succeed("1"))]);
    await store.settle([settlement(third, { kind: "release", afterMs: LONG_MS })]);
    const again = (await take(store, 10)).map((job) => job.group);
    expect(again.sort()).toEqual([first.group, second.group, third.group].sort());
  });

  it("with caps of their own are not walked by a caller that wants nothing of capped lines", async () => {
    await fillLines();
    const caps = Array.from({ length: LINES }, (_, n) => ({
      queue: QUEUE,
      group: group(n),
      maxActive: 1,
    }));
    await store.limit(caps);
    await untilTended();
    await store.insert(newJobs(3, { group: "free" }));
    const { jobs } = await store.lease(leaseRequest(10, { cappedLimit: 0 }));
    expect(jobs.map((job) => job.group)).toEqual(["free", "free", "free"]);
  });
});

/** Until the ring has been made. */
async function untilTended(): Promise<void> {
  const isBehind = async (): Promise<boolean> => {
    const { rows } = await place.pool.query(
      `SELECT 1 FROM "${place.schema}".queue WHERE ring_from IS NOT NULL`,
    );
    return rows.length > 0;
  };
  while (await isBehind()) await store.lease(leaseRequest(1, { cappedLimit: 0, leaseMs: 1 }));
}

describe("a line that a transaction of a caller hides from the ring", () => {
  let now = Date.UTC(2031, 0, 1);
  let still: PostgresSchema;
  let ours: Store;
  beforeEach(async () => {
    still = await postgresSchema({ hasStillClock: true });
    await still.setClock(now);
    ours = postgresStore({ pool: still.pool, schema: still.schema });
    await ours.open();
  });
  afterEach(async () => {
    await ours.close();
    await still.clear();
    await still.drop();
  });

  /** Comes back when a lease says so, until there is a job. */
  async function comeBack(): Promise<string | undefined> {
    for (let calls = 0; calls < 5; calls++) {
      const { jobs, nextInMs } = await ours.lease(leaseRequest(1));
      if (jobs[0] !== undefined) return jobs[0].id;
      if (nextInMs === null) return undefined;
      await still.setClock((now += nextInMs));
    }
    return undefined;
  }

  it("is found when a lease says to come back, if its job was inserted before there was a ring", async () => {
    await insertOne(ours, { group: "a" });
    const tx = await still.connect();
    await tx.query("BEGIN");
    const hidden = newJob({ group: "b" });
    await ours.within?.(tx).insert([hidden]);
    await ours.limit([{ queue: QUEUE, group: "a", weight: 2 }]);
    expect((await takeOne(ours)).group).toBe("a");
    expect(await take(ours, 1)).toEqual([]);
    await tx.query("COMMIT");
    expect(await comeBack()).toBe(hidden.id);
  });

  it("is found when a lease says to come back, if it was settled before there was a cap", async () => {
    // It has a ring, which is at rest.
    await ours.limit([{ queue: QUEUE, group: "z", weight: 2 }]);
    await insertOne(ours, { group: "a" });
    const first = await takeOne(ours);
    expect((await ours.lease(leaseRequest(1))).nextInMs).toBe(null);
    const next = await insertOne(ours, { group: "a" });
    const tx = await still.connect();
    await tx.query("BEGIN");
    await ours.within?.(tx).settle([settlement(first, succeed())]);
    await ours.limit([{ queue: QUEUE, group: "a", maxActive: 1 }]);
    expect(await take(ours, 1)).toEqual([]);
    await tx.query("COMMIT");
    expect(await comeBack()).toBe(next.id);
  });

  it("is looked for no longer once those transactions have ended", async () => {
    await insertOne(ours, { group: "a" });
    const tx = await still.connect();
    await tx.query("BEGIN");
    await ours.within?.(tx).insert([newJob({ group: "b" })]);
    await ours.limit([{ queue: QUEUE, group: "a", weight: 2 }]);
    await takeOne(ours);
    expect((await ours.lease(leaseRequest(1))).nextInMs).toBeGreaterThan(0);
    await tx.query("ROLLBACK");
    expect(await comeBack()).toBe(undefined);
    expect((await ours.lease(leaseRequest(1))).nextInMs).toBe(null);
  });
});

describe("the ring of open lines", () => {
  it("finds jobs that were added without it, as by a program of an older version", async () => {
    await store.limit([{ queue: QUEUE, group: null, maxActivePerGroup: 5 }]);
    const job = await insertOne(store, { group: "a" });
    await store.lease(leaseRequest(1, { cappedLimit: 0 }));
    await place.pool.query(`
      DELETE FROM "${place.schema}".open_line;
      UPDATE "${place.schema}".queue SET ring_due_at = 0`);
    expect((await takeOne(store)).id).toBe(job.id);
  });

  it("keeps a line whose insert is not committed while a lease finds it empty", async () => {
    await store.limit([{ queue: QUEUE, group: null, maxActivePerGroup: 5 }]);
    await insertOne(store, { group: "a" });
    await takeOne(store);
    const tx = await place.connect();
    await tx.query("BEGIN");
    const job = newJob({ group: "a" });
    await store.within?.(tx).insert([job]);
    expect(await take(store, 5)).toEqual([]);
    await tx.query("COMMIT");
    expect((await takeOne(store)).id).toBe(job.id);
  });
});
