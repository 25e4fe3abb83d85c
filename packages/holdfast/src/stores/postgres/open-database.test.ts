import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresSchema, type PostgresSchema } from "../../../../../test/servers/postgres-place.ts";
import {
  ClosedError,
  InvalidOptionError,
  StoreOpenError,
  StoreUnavailableError,
} from "../../core/errors.ts";
import { Clock } from "./clock.ts";
import { Database } from "./database.ts";
import { postgresStore, type PostgresStoreOptions } from "./index.ts";
import { SchemaName } from "./schema-name.ts";
import { Upkeep } from "./upkeep.ts";

let place: PostgresSchema;
beforeAll(async () => void (place = await postgresSchema()));
afterAll(() => place.drop());

describe("options", () => {
  it("that make no sense are refused at once", () => {
    const { pool, url } = place;
    const wrong = [
      {},
      { url: "mysql://localhost" },
      { url: 7 },
      { pool: {} },
      { pool, schema: "" },
      { pool, schema: 'a"b' },
      { pool, schema: "a.b" },
      { pool, schema: "x".repeat(60) },
      { url, pooler: "statement" },
      { url, deadlineMs: 0 },
      { url, remembersMs: -1 },
    ];
    for (const options of wrong) {
      expect(() => postgresStore(options as PostgresStoreOptions)).toThrow(InvalidOptionError);
    }
  });
});

describe("a place", () => {
  it("with a name that needs quotes is used like any other", async () => {
    const schema = `${place.schema}-Upper`;
    const store = postgresStore({ pool: place.pool, schema });
    await store.open();
    expect(await store.count()).toEqual([]);
    await store.close();
    await place.pool.query(`DROP SCHEMA "${schema}" CASCADE`);
  });

  it("that cannot be reached is unavailable for now, and the store stays closed", async () => {
    const url = new URL(place.url);
    url.port = "1";
    const store = postgresStore({ url: url.href });
    await expect(store.open()).rejects.toThrow(StoreUnavailableError);
    await expect(store.count()).rejects.toThrow(ClosedError);
    await store.close();
  });

  it("where transactions see old snapshots by default is refused, with what to do", async () => {
    const url = new URL(place.url);
    url.searchParams.set("options", "-c default_transaction_isolation=serializable");
    const store = postgresStore({ url: url.href, schema: place.schema });
    await expect(store.open()).rejects.toThrow(/set it to "read committed"/);
  });

  it("that does not hold every text is refused, with what to do", async () => {
    const name = `${place.schema}_ascii`;
    await place.pool.query(`CREATE DATABASE "${name}" ENCODING 'SQL_ASCII' TEMPLATE template0`);
    const url = new URL(place.url);
    url.pathname = `/${name}`;
    await expect(postgresStore({ url: url.href }).open()).rejects.toThrow(StoreOpenError);
    await place.pool.query(`DROP DATABASE "${name}"`);
  });

  it("says what it is and what it survives", async () => {
    const store = postgresStore({ pool: place.pool, schema: place.schema });
    await store.open();
    const { name, version, survives } = store.info();
    expect([name, version]).toEqual(["postgres", expect.stringMatching(/^PostgreSQL \d+/)]);
    const { rows } = await place.pool.query<{ fsync: string }>("SHOW fsync");
    expect(survives).toMatchObject({
      processKill: true,
      powerLoss: rows[0]?.fsync === "on",
      failover: false,
    });
    await store.close();
  });

  it("keeps a caller's pool open when the store is closed", async () => {
    const store = postgresStore({ pool: place.pool, schema: place.schema });
    await store.open();
    await store.close();
    expect((await place.pool.query("SELECT 1")).rows).toHaveLength(1);
    for (const event of ["error", "connect"]) expect(place.pool.listenerCount(event)).toBe(0);
  });

  it("that ends a connection in the moment it comes about fails the call, not the process", async () => {
    const server = await endEachConnection(place);
    const url = new URL(place.url);
    url.port = String((server.address() as AddressInfo).port);
    const store = postgresStore({ url: url.href, schema: place.schema });
    await expect(store.open()).rejects.toThrow(StoreUnavailableError);
    await store.close();
    server.close();
  });

  it("carries its clock on from one process to the next", async () => {
    const ahead = (Date.now() + 3_600_000) * 1_000;
    await place.pool.query(`UPDATE "${place.schema}".head SET clock = ${ahead}`);
    const store = postgresStore({ pool: place.pool, schema: place.schema });
    await store.open();
    expect(await store.now()).toBeGreaterThanOrEqual(ahead / 1_000);
    await store.close();
    await place.pool.query(`UPDATE "${place.schema}".head SET clock = 0`);
    const later = postgresStore({ pool: place.pool, schema: place.schema });
    await later.open();
    await later.reap({ limit: 1 });
    const { rows } = await place.pool.query(`SELECT clock FROM "${place.schema}".head`);
    expect(Number(rows[0].clock)).toBeGreaterThan(Date.now() * 1_000 - 60_000_000);
    await later.close();
  });

  it("is vacuumed when many rows are dead, and not again at once", async () => {
    const pool = new pg.Pool({ connectionString: place.url, max: 1 });
    const db = new Database({
      pool,
      schema: new SchemaName(place.schema),
      clock: new Clock(),
      deadlineMs: 10_000,
      remembersMs: 3_600_000,
      prepares: true,
    });
    const upkeep = new Upkeep(db);
    const vacuums = async (): Promise<number> => {
      const { rows } = await place.pool.query<{ n: string }>(
        "SELECT vacuum_count AS n FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'ready'",
        [place.schema],
      );
      return Number(rows[0]?.n);
    };
    await upkeep.look(10);
    expect(await vacuums()).toBe(0);
    await upkeep.look(100_000);
    await upkeep.look(100_000);
    while ((await vacuums()) === 0);
    expect(await vacuums()).toBe(1);
    await pool.end();
  });
});

/**
 * On the way to the server: ends each backend when it has greeted, and hands on its greeting and its
 * last words at once, so that the client gets both in one read.
 */
async function endEachConnection({ url, pool }: PostgresSchema): Promise<Server> {
  const { hostname, port } = new URL(url);
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    const held: Buffer[] = [];
    client.on("error", () => {});
    client.on("data", (data) => server.write(data));
    server.on("data", (data: Buffer) => {
      const pid = held.length === 0 ? greetedBy(data) : null;
      if (held.length === 0 && pid === null) return void client.write(data);
      held.push(data);
      if (pid !== null) void pool.query("SELECT pg_terminate_backend($1)", [pid]);
    });
    server.on("close", () => client.end(Buffer.concat(held)));
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return proxy;
}

/** The backend says its process id (K, twelve bytes) before it says that it is ready (Z). */
function greetedBy(data: Buffer): number | null {
  const at = data.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
  return at < 0 ? null : data.readInt32BE(at + 5);
}
