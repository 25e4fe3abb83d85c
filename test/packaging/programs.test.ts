/**
 * The programs people copy: each runs as it is written, against the installed package, on every store,
 * and each type-checks there under strict settings.
 */
import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { onlyInFull } from "../runner/tier.ts";
import { startPgbouncer } from "../servers/pgbouncer.ts";
import { postgresDatabase } from "../servers/postgres-database.ts";
import { serverUrl } from "../servers/server-desk.ts";
import { installPackage, type InstalledPackage } from "./install-package.ts";

const PROGRAMS = fileURLToPath(new URL("programs", import.meta.url));

/** Programs that stand on a store; the others bring their own or need a database. */
const ON_ANY_STORE = ["everything", "endings", "survives", "contract-web"];
/** What a program is rightly told on stderr. */
const WARNINGS: Readonly<Record<string, unknown>> = {
  "transaction-mongodb": expect.stringMatching(
    /^holdfast: mongodb: the client of this Db[^\n]*\n$/,
  ),
  everything: expect.stringMatching(/^holdfast: no handler for type "email.track"[^\n]*\n$/),
};

/** How a program names its store. A server's is brought by the environment. */
const STORES = {
  sqlite: { from: "sqliteStore", made: `sqliteStore({ file: "jobs.db" })` },
  memory: { from: "memoryStore", made: "memoryStore()" },
  postgres: { from: "postgresStore", made: "postgresStore({ url: process.env.DATABASE_URL! })" },
  pgbouncer: {
    from: "postgresStore",
    made: `postgresStore({ url: process.env.DATABASE_URL!, pooler: "transaction" })`,
  },
  redis: {
    from: "redisStore",
    made: "redisStore({ url: process.env.REDIS_URL!, prefix: process.env.REDIS_PREFIX! })",
  },
  mongodb: { from: "mongodbStore", made: "mongodbStore({ url: process.env.MONGODB_URL! })" },
} as const;
type StoreName = keyof typeof STORES;

describe("the front door's programs", () => {
  let installed: InstalledPackage;

  beforeAll(async () => {
    installed = await installPackage();
    for (const store of Object.keys(STORES) as StoreName[]) {
      await cp(PROGRAMS, join(installed.folder, store), { recursive: true });
      for (const name of [...ON_ANY_STORE, "two-processes", "transaction-postgres"]) {
        const file = join(installed.folder, store, `${name}.ts`);
        await writeFile(file, onStore(store, await readFile(file, "utf8")));
      }
    }
    await writeFile(
      join(installed.folder, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          ...{ target: "es2024", module: "nodenext", types: ["node"], noEmit: true },
          ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
          ...{ verbatimModuleSyntax: true, allowImportingTsExtensions: true },
        },
        include: Object.keys(STORES),
      }),
    );
  });
  afterAll(() => installed?.remove());

  /** Each in a folder of its own, so that no program finds another's database. */
  async function runs(store: StoreName, name: string, env: Record<string, string> = {}) {
    const cwd = await mkdtemp(join(installed.folder, "run-"));
    const ran = await installed.node([join(installed.folder, store, `${name}.ts`)], { cwd, env });
    expect(ran).toEqual({ code: 0, stdout: "ok\n", stderr: WARNINGS[name] ?? "" });
  }

  async function runsOnPostgres(name: string) {
    const { url, drop } = await postgresDatabase();
    await runs("postgres", name, { DATABASE_URL: url, HOLDFAST_URL: url });
    await drop();
  }

  async function runsOnRedis(server: "redis" | "redis-cluster", name: string) {
    const url = await serverUrl(server);
    const prefix = `test_${randomBytes(6).toString("hex")}`;
    const env = { REDIS_URL: url, REDIS_PREFIX: prefix, HOLDFAST_URL: `${url}?prefix=${prefix}` };
    await runs("redis", name, env);
  }

  async function runsOnMongodb(server: "mongodb" | "mongodb-standalone", name: string) {
    const url = new URL(await serverUrl(server));
    url.pathname = `/test_${randomBytes(6).toString("hex")}`;
    await runs("mongodb", name, { MONGODB_URL: url.href, HOLDFAST_URL: url.href });
  }

  async function runsThroughPgbouncer(name: string) {
    const { url: direct, drop } = await postgresDatabase();
    const { url, stop } = await startPgbouncer(direct);
    const byUrl = `${url}?pooler=transaction`;
    await runs("pgbouncer", name, { DATABASE_URL: url, HOLDFAST_URL: byUrl });
    await stop();
    await drop();
  }

  for (const name of ON_ANY_STORE) it(`${name} runs on SQLite`, () => runs("sqlite", name));
  it("by-url runs on its default, SQLite", () => runs("sqlite", "by-url"));
  it("two-processes runs on SQLite", () => runs("sqlite", "two-processes"));
  it("transaction runs on SQLite", () => runs("sqlite", "transaction"));
  it("in-tests runs", () => runs("memory", "in-tests"));
  it("transaction runs on PostgreSQL", () => runsOnPostgres("transaction-postgres"));
  for (const name of [...ON_ANY_STORE, "by-url", "two-processes"]) {
    it(`${name} runs on PostgreSQL`, () => runsOnPostgres(name));
    it(`${name} runs on Redis`, () => runsOnRedis("redis", name));
    it(`${name} runs on MongoDB`, () => runsOnMongodb("mongodb", name));
  }

  describe("on what is nearly the same", () => {
    beforeEach(onlyInFull);
    for (const name of ON_ANY_STORE) it(`${name} runs on memory`, () => runs("memory", name));
    it("by-url runs on memory", () => runs("memory", "by-url", { HOLDFAST_URL: "memory:" }));
    for (const name of [...ON_ANY_STORE, "by-url", "two-processes"]) {
      it(`${name} runs through pgbouncer`, () => runsThroughPgbouncer(name));
      it(`${name} runs on a Redis cluster`, () => runsOnRedis("redis-cluster", name));
      it(`${name} runs on a standalone MongoDB`, () => runsOnMongodb("mongodb-standalone", name));
    }
    it("transaction runs through pgbouncer", () => runsThroughPgbouncer("transaction-postgres"));
  });

  it("transaction-mongodb runs on MongoDB", () => runsOnMongodb("mongodb", "transaction-mongodb"));

  it("all of them type-check", async () => {
    expect(await installed.tsc(["-p", "."])).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

/** The same program on another store: its import and its one call, nothing else. */
function onStore(store: StoreName, program: string): string {
  if (store === "sqlite") return program;
  const { from, made } = STORES[store];
  const changed = program
    .replace(
      `import { sqliteStore } from "holdfast/sqlite";`,
      `import { ${from} } from "holdfast/${store === "pgbouncer" ? "postgres" : store}";`,
    )
    .replace(/sqliteStore\(\{ file: "[^"]+" \}\)/, made)
    .replace(
      "postgresStore({ pool })",
      `postgresStore({ pool${store === "pgbouncer" ? `, pooler: "transaction"` : ""} })`,
    );
  if (changed.includes("sqliteStore")) throw new Error("a program names its store in another way");
  return changed;
}
