import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { FaultProxy } from "../../../../../test/servers/fault-proxy.ts";
import { startPgbouncer } from "../../../../../test/servers/pgbouncer.ts";
import { postgresDatabase } from "../../../../../test/servers/postgres-database.ts";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import { Clock } from "./clock.ts";
import { Database } from "./database.ts";
import { newJob } from "../../testing/conformance/new-job.ts";
import { postgresSchemaSql, postgresStore } from "./index.ts";
import { SchemaName } from "./schema-name.ts";

let place: PostgresSchema;
let proxy: FaultProxy;
let proxyUrl: string;
const pools: pg.Pool[] = [];
const blockers: pg.Client[] = [];

beforeAll(async () => {
  place = await postgresSchema();
  proxy = new FaultProxy(place.url);
  proxyUrl = await proxy.open();
  await place.pool.query(postgresSchemaSql({ schema: place.schema }));
  await place.pool.query(`CREATE TABLE "${place.schema}".thing (id int PRIMARY KEY, n int)`);
});
afterEach(async () => {
  // First of all: a test that failed half way still has the table, and the rest would wait for it.
  for (const blocker of blockers.splice(0)) await blocker.query("ROLLBACK");
  proxy.set("open");
  proxy.cut();
  for (const pool of pools.splice(0)) await pool.end();
  await place.pool.query(`DELETE FROM "${place.schema}".thing`);
});
afterAll(async () => {
  await proxy.close();
  await place.drop();
});

function database(options: { deadlineMs?: number; url?: string; max?: number } = {}): Database {
  const { deadlineMs = 10_000, url = place.url, max = 4 } = options;
  const pool = new pg.Pool({ connectionString: url, max });
  pool.on("error", () => {});
  pools.push(pool);
  const schema = new SchemaName(place.schema);
  const clock = new Clock();
  return new Database({ pool, schema, clock, deadlineMs, remembersMs: 3_600_000, prepares: true });
}

/** Nobody gets at the table until the test is over. */
async function block(): Promise<void> {
  const blocker = await place.connect();
  blockers.push(blocker);
  await blocker.query(`BEGIN; LOCK TABLE "${place.schema}".thing`);
}

async function failure(call: Promise<unknown>): Promise<StoreUnavailableError> {
  const error: unknown = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreUnavailableError);
  return error as StoreUnavailableError;
}

const ADD = "INSERT INTO holdfast.thing VALUES ($1, 0)";
const COUNT = "SELECT count(*) FROM holdfast.thing";

describe("the way to the database", () => {
  it("gives up a call that gets no answer, and says that it may have happened", async () => {
    await block();
    const error = await failure(database({ deadlineMs: 200 }).rows(ADD, [1]));
    expect(error.mayHaveHappened).toBe(true);
  });

  it("cancels on the server what it gave up, so that it does not happen later", async () => {
    const late = "INSERT INTO holdfast.thing SELECT 77, 0 FROM (SELECT pg_sleep(2) OFFSET 0) s";
    const db = database({ deadlineMs: 300 });
    const error = await failure(db.rowsOnce(late));
    expect(error).toMatchObject({ mayHaveHappened: true });
    await db.idle();
    const running = `SELECT 1 FROM pg_stat_activity
      WHERE query LIKE '%77, 0 FROM%' AND state = 'active' AND pid <> pg_backend_pid()`;
    await expect.poll(async () => (await place.pool.query(running)).rows).toEqual([]);
    const count = "SELECT count(*) FROM holdfast.thing WHERE id = 77";
    expect(await database().rows(count)).toEqual([["0"]]);
  });

  it("gives up a transaction that was not to be committed yet, and says that it has not happened", async () => {
    await block();
    const call = database({ deadlineMs: 200 }).transaction((tx) => tx.rows(ADD, [1]));
    expect((await failure(call)).mayHaveHappened).toBe(false);
  });

  it("gives up waiting for a connection, and says that nothing has happened", async () => {
    const db = database({ deadlineMs: 200, max: 1 });
    const taken = await db.options.pool.connect();
    expect((await failure(db.rows(ADD, [1]))).mayHaveHappened).toBe(false);
    taken.release();
    expect(await db.rows(COUNT)).toEqual([["0"]]);
  });

  it("says that nothing has happened when nobody can be reached", async () => {
    const url = new URL(place.url);
    url.port = "1";
    expect((await failure(database({ url: url.href }).rows(ADD, [1]))).mayHaveHappened).toBe(false);
  });

  it("says that a call on a connection that broke may have happened", async () => {
    const db = database({ url: proxyUrl });
    await db.rows(COUNT);
    await block();
    const call = failure(db.rows(ADD, [1]));
    await untilWaiting();
    proxy.cut();
    expect((await call).mayHaveHappened).toBe(true);
  });

  it("passes what the server says of one statement as it is, and keeps the connection", async () => {
    const db = database({ max: 1 });
    const before = await db.rows("SELECT pg_backend_pid()");
    await expect(db.rows("SELECT 1/0")).rejects.toMatchObject({ code: "22012" });
    await expect(db.transaction((tx) => tx.rows("SELECT 1/0"))).rejects.toMatchObject({
      code: "22012",
    });
    expect(await db.rows("SELECT pg_backend_pid()")).toEqual(before);
  });

  it("leaves no transaction open if its very beginning fails", async () => {
    const db = database({ max: 1 });
    const clock = `"${place.schema}".clock_us()`;
    await place.pool.query(`ALTER FUNCTION ${clock} RENAME TO clock_gone`);
    await expect(db.transaction((tx) => tx.rows(COUNT))).rejects.toMatchObject({ code: "42883" });
    await place.pool.query(`ALTER FUNCTION ${clock.replace("us", "gone")} RENAME TO clock_us`);
    expect(await db.rows(COUNT)).toEqual([["0"]]);
  });

  it("uses no connection again that was idle when another one broke", async () => {
    const db = database({ url: proxyUrl, deadlineMs: 1_000 });
    await Promise.all([1, 2, 3].map(() => db.rows("SELECT pg_sleep(0.05)")));
    expect(proxy.connections).toBe(3);
    proxy.set("hole");
    await failure(db.rows(COUNT));
    proxy.set("open");
    // Each of the two others would cost a deadline of its own.
    expect(await db.rows(COUNT)).toEqual([["0"]]);
  });

  it("notices a lost answer long before the deadline", async () => {
    const db = database({ url: proxyUrl, deadlineMs: 25_000 });
    await db.rows(COUNT);
    proxy.deafen();
    const call = db.rows(ADD, [7]);
    await untilAdded();
    expect((await failure(call)).mayHaveHappened).toBe(true);
    expect(await db.rows(COUNT)).toEqual([["1"]]);
  });

  it("asks for all slow calls over one connection more", async () => {
    const db = database({ max: 6 });
    const clients = counted(db);
    await block();
    const calls = Array.from({ length: 6 }, (_, n) => db.rows(ADD, [n]));
    await clients.looked;
    await blockers[0]?.query("ROLLBACK");
    await Promise.all(calls);
    expect(clients.most).toBe(7);
  });

  it("waits for a slow call behind a pooler, where a connection names a backend that is none", async () => {
    const bouncer = await startPgbouncer(place.url, "session");
    onTestFinished(() => bouncer.stop());
    const db = database({ url: bouncer.url, max: 2 });
    const { looked } = counted(db);
    await block();
    const call = db.rows(ADD, [1]);
    call.catch(() => {});
    await looked;
    await blockers[0]?.query("ROLLBACK");
    expect(await call).toEqual([]);
    await pools.pop()?.end();
  });

  it("uses no connection again that takes no writes: the next one may lead to the primary", async () => {
    const own = await postgresDatabase();
    const pool = new pg.Pool({ connectionString: own.url, max: 1 });
    pool.on("error", () => {});
    const name = new URL(own.url).pathname.slice(1);
    const readOnly = (is: "on" | "off") =>
      place.pool.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = ${is}`);
    const store = postgresStore({ pool });
    await store.open();
    await pool.query(`SELECT pg_terminate_backend(pg_backend_pid())`).catch(() => {});
    await readOnly("on");
    const insert = (): Promise<unknown> => store.insert([newJob()]);
    expect((await failure(insert())).message).toContain("read-only");
    await readOnly("off");
    await insert();
    await store.close();
    await pool.end();
    await own.drop();
  });

  it("says so if the pool gave no connection", async () => {
    const db = database({ deadlineMs: 200, max: 1 });
    const taken = await db.options.pool.connect();
    expect((await failure(db.rows(COUNT))).message).toContain("none of the pool was free");
    taken.release();
  });

  it("tries again when two transactions wait for each other", async () => {
    const db = database();
    await place.pool.query(`INSERT INTO "${place.schema}".thing VALUES (1, 0), (2, 0)`);
    const waiting = new Set<number>();
    let meet = (): void => {};
    const met = new Promise<void>((resolve) => (meet = resolve));
    const ADD_ONE = "UPDATE holdfast.thing SET n = n + 1 WHERE id = $1";
    const crossing = async (first: number, second: number) =>
      db.transaction(async (tx) => {
        await tx.rows(ADD_ONE, [first]);
        waiting.add(first);
        if (waiting.size === 2) meet();
        await met;
        await tx.rows(ADD_ONE, [second]);
      });
    await Promise.all([crossing(1, 2), crossing(2, 1)]);
    expect(await db.rows("SELECT n FROM holdfast.thing ORDER BY id")).toEqual([["2"], ["2"]]);
  });
});

/** How many connections there were at most, and when one was closed: a look at slow calls is over. */
function counted(db: Database): { readonly looked: Promise<void>; most: number } {
  const pool = db.options.pool as pg.Pool & { Client: typeof pg.Client };
  let onLook = (): void => {};
  const counts = { looked: new Promise<void>((resolve) => (onLook = resolve)), most: 0 };
  let open = 0;
  pool.Client = class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config);
      counts.most = Math.max(counts.most, ++open);
    }

    override end(): Promise<void> {
      open--;
      // Not before the one who looked has heard the answer.
      setImmediate(onLook);
      return super.end();
    }
  };
  return counts;
}

/** Until somebody waits for the lock. */
function untilWaiting(): Promise<void> {
  const sql = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1";
  return untilFound(sql, [`%${place.schema}%`]);
}

function untilAdded(): Promise<void> {
  return untilFound(`SELECT 1 FROM "${place.schema}".thing`);
}

/** Not longer than a test may take: a loop that outlives its test keeps the file from ending. */
async function untilFound(sql: string, values: readonly string[] = []): Promise<void> {
  const giveUpAt = performance.now() + 20_000;
  for (;;) {
    const { rows } = await place.pool.query(sql, [...values]);
    if (rows.length > 0) return;
    if (performance.now() > giveUpAt) throw new Error(`nothing was found by ${sql}`);
  }
}
