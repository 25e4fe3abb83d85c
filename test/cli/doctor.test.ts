/** Each problem is planted for real, and found with what to do about it. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkFleet, checkStore } from "../../packages/holdfast/src/doctor/index.ts";
import { Holdfast } from "../../packages/holdfast/src/index.ts";
import { connect } from "../../packages/holdfast/src/connect.ts";
import { checkSqlite } from "../../packages/holdfast/src/stores/sqlite/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { INDEXES } from "../../packages/holdfast/src/stores/mongodb/schema.ts";
import { mongodbDatabase } from "../servers/mongodb-place.ts";
import { postgresDatabase, type PostgresDatabase } from "../servers/postgres-database.ts";
import { serverUrl } from "../servers/server-desk.ts";
import { startOwnRedis, type OwnRedis } from "../servers/redis.ts";
import { holdfastOn } from "./seeded-store.ts";
import { Terminal } from "./terminal.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
let terminal: Terminal;
beforeEach(async () => {
  terminal = await Terminal.open();
});
afterEach(() => terminal?.close());

const file = () => join(terminal.folder, "holdfast.db");

async function diagnose(argv: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const ran = await terminal.run(["doctor", "--json", ...argv], { env });
  const report = JSON.parse(ran.out) as {
    findings: readonly { check: string; level: string; message: string }[];
    values: readonly { setting: string; source: string }[];
  };
  const of = (check: string) => report.findings.find((one) => one.check === check);
  return { ...ran, ...report, of };
}

describe("doctor on SQLite", () => {
  it("says that all is well where it is, and changes nothing", async () => {
    const hf = holdfastOn(file());
    await hf.info();
    await hf.close();
    const { code, findings } = await diagnose();
    expect(findings.filter(({ level }) => level === "warning" || level === "trouble")).toEqual([]);
    expect(code).toBe(0);
  });

  it("finds a bad environment value, and shows where values come from", async () => {
    const env = { QUEUE_POLL_MS: "soon", HOLDFAST_CONCURRENCY: "3" };
    const { code, of, values } = await diagnose([], env);
    expect(code).toBe(2);
    expect(of("setting")?.message).toContain("QUEUE_POLL_MS");
    expect(values).toEqual([
      { setting: "concurrency", value: "3", source: "HOLDFAST_CONCURRENCY" },
    ]);
  });

  it("finds an old schema, and does not upgrade it by looking", async () => {
    const hf = holdfastOn(file());
    await hf.info();
    await hf.close();
    const database = new DatabaseSync(file());
    database.exec("UPDATE holdfast_meta SET value = '3' WHERE key = 'schema'");
    for (let look = 0; look < 2; look++) {
      const { code, of } = await diagnose();
      expect([code, of("schema")?.level]).toEqual([1, "warning"]);
      expect(of("schema")?.message).toContain("holdfast migrate up");
    }
    database.close();
  });

  it("finds a missing index", async () => {
    const hf = holdfastOn(file());
    await hf.info();
    await hf.close();
    const database = new DatabaseSync(file());
    const index = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND name GLOB 'holdfast_*'")
      .get() as { name: string };
    database.exec(`DROP INDEX ${index.name}`);
    database.close();
    const { code, of } = await diagnose();
    expect([code, of("layout")?.level]).toEqual([1, "trouble"]);
    expect(of("layout")?.message).toContain(index.name);
  });

  it("finds a file on a network file system", () => {
    const { findings } = checkSqlite({ file: file(), fileSystem: 0x6969 });
    expect(findings.find(({ check }) => check === "file system")?.level).toBe("trouble");
  });

  it("finds a queue without a worker, and a type that no worker has", async () => {
    const hf = holdfastOn(file());
    hf.define({ type: "known", queue: "served", run: () => {} });
    await hf.enqueue("lonely", null, { queue: "alone" });
    const worker = await hf.work({ queues: ["served"] });
    await hf.workers.quiet(worker.id);
    await hf.enqueue("stranger", null, { queue: "served", priority: 1 });
    const { of } = await diagnose();
    expect(of("queue without a worker")?.message).toContain("queue alone");
    expect(of("unknown type")?.message).toMatch(/type stranger .* queue served/);
    await hf.close({ graceMs: 0 });
  });
});

it("doctor finds a schedule whose jobs no worker runs", async () => {
  const hf = new Holdfast({ store: memoryStore() });
  const job = { type: "report", payload: null, queue: "reports" };
  await hf.schedules.set("weekly-report", { cron: "0 9 * * 1", job });
  const found = async () =>
    (await checkFleet(hf)).find(({ check }) => check === "schedule without a worker");
  expect((await found())?.message).toMatch(/weekly-report .* type report in queue reports/);
  hf.handle("report", () => {});
  await hf.work({ queues: ["reports"] });
  expect(await found()).toBeUndefined();
  await hf.close();
});

it("doctor finds a clock that is off", async () => {
  const hf = new Holdfast({ store: memoryStore() });
  const findings = await checkFleet(hf, { now: () => Date.now() - 60_000 });
  expect(findings.find(({ check }) => check === "clock")).toMatchObject({ level: "warning" });
  expect(findings.find(({ check }) => check === "clock")?.message).toMatch(/60\.\d s behind/);
  await hf.close();
});

describe("doctor on PostgreSQL", () => {
  let database: PostgresDatabase;
  beforeAll(async () => {
    database = await postgresDatabase();
    const hf = await connect(database.url, { logger: quiet });
    await hf.close();
  });
  afterAll(() => database?.drop());

  it("names the process that keeps a snapshot", async () => {
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
    const { code, of } = await diagnose(["--url", database.url, "--long-transaction", "0ms"]);
    expect(code).toBe(1);
    expect(of("open transaction")?.message).toContain(`process ${String(rows[0].pid)}`);
    await client.query("COMMIT");
    await client.end();
    const after = await diagnose(["--url", database.url]);
    expect(after.of("open transaction")?.level).toBe("ok");
  });

  it("finds a missing index and an old schema", async () => {
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query("DROP INDEX holdfast.done_unhappy_type");
    const missing = await checkStore(database.url);
    expect(missing.findings.find(({ check }) => check === "indexes")).toMatchObject({
      level: "trouble",
      message: expect.stringContaining("done_unhappy_type"),
    });
    await client.query("UPDATE holdfast.meta SET value = '2' WHERE key = 'schema'");
    expect((await checkStore(database.url)).schema).toMatchObject({ state: "old", found: 2 });
    await client.end();
  });

  it("says that a server is away, without its password", async () => {
    const ran = await terminal.run(["doctor", "--url", "postgres://ann:s3cret@127.0.0.1:1/jobs"]);
    expect(ran.code).toBe(5);
    expect(ran.out + ran.err).not.toContain("s3cret");
  });

  it("of a URL that cannot be read it says so, without its password", async () => {
    for (const scheme of ["postgres", "redis"]) {
      const ran = await terminal.run(["doctor", "--url", `${scheme}://ann:s3c#ret@host:x/jobs`]);
      expect(ran.code).toBe(2);
      expect(ran.out + ran.err).toContain("the URL of the store cannot be read");
      expect(ran.out + ran.err).not.toContain("s3c");
    }
  });
});

describe("doctor on Redis", () => {
  let redis: OwnRedis;
  beforeAll(async () => {
    redis = await startOwnRedis();
  });
  afterAll(() => redis?.stop());

  it("finds a server that evicts, and one that keeps nothing", async () => {
    const client = new Redis(redis.url);
    await client.config("SET", "maxmemory-policy", "allkeys-lru");
    await client.config("SET", "appendonly", "no");
    await client.config("SET", "save", "");
    const { code, of } = await diagnose(["--url", redis.url]);
    client.disconnect();
    expect(code).toBe(1);
    expect(of("eviction")).toMatchObject({ level: "trouble" });
    expect(of("persistence")).toMatchObject({ level: "trouble" });
    expect(of("persistence")?.message).toContain("appendonly yes");
  });
});

describe("doctor on MongoDB", () => {
  it("finds a server that stands alone, and a missing index", async () => {
    const database = await mongodbDatabase("mongodb-standalone");
    const place = new URL(await serverUrl("mongodb-standalone"));
    place.pathname = `/${database.db.databaseName}`;
    const url = place.href;
    const hf = await connect(url, { logger: quiet });
    await hf.close();
    const { code, of } = await diagnose(["--url", url]);
    expect([code, of("replica set")?.level]).toEqual([1, "warning"]);
    // Hints of new jobs need no replica set.
    expect(of("replica set")?.message).not.toContain("polling");
    const index = String(INDEXES.ledger?.[0]?.["name"]);
    await database.db.command({ dropIndexes: "holdfast_ledger", index });
    const { findings } = await checkStore(url);
    expect(findings.find(({ check }) => check === "indexes")?.message).toContain(`ledger.${index}`);
    await database.drop();
  });
});
