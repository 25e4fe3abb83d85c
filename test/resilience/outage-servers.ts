/** The servers that producers and ledgers must survive, each to be ended and started again at will. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import type { Store } from "../../packages/holdfast/src/index.ts";
import { postgresStore } from "../../packages/holdfast/src/stores/postgres/index.ts";
import { redisStore } from "../../packages/holdfast/src/stores/redis/index.ts";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";
import { startOwnPostgres } from "../servers/postgres.ts";
import { startOwnRedis } from "../servers/redis.ts";
import type { TestServer } from "../servers/server-desk.ts";

export interface OutageServer extends TestServer {
  halt(how: "fast" | "kill"): Promise<void>;
  resume(): Promise<void>;
}

export interface ServerKind {
  readonly name: string;
  start(): Promise<OutageServer>;
  store(url: string): Store;
  /** Deletes everything in it, as an operator's slip would. */
  empty?(url: string): Promise<void>;
}

/** A store with a server of its own joins this list. */
export const SERVERS: readonly ServerKind[] = [
  {
    name: "PostgreSQL",
    start: () => startOwnPostgres(),
    store: postgresOf,
  },
  {
    name: "Redis",
    // An acknowledgement must survive the kill of the server.
    start: () => startOwnRedis({ settings: ["--appendonly", "yes", "--appendfsync", "always"] }),
    store: (url) => redisStore({ url }),
    async empty(url) {
      const admin = new Redis(url);
      await admin.flushall();
      admin.disconnect();
    },
  },
];

/** Where jobs may be while their ledger is in PostgreSQL. */
export const JOB_STORES: readonly ServerKind[] = [
  {
    name: "SQLite",
    async start() {
      const folder = await mkdtemp(join(tmpdir(), "holdfast-split-"));
      const nothing = async (): Promise<void> => {};
      const stop = (): Promise<void> => rm(folder, { recursive: true, force: true });
      const url = join(folder, "jobs.db");
      return { url, how: "a file", stop, halt: nothing, resume: nothing };
    },
    store: (file) => sqliteStore({ file }),
  },
  ...SERVERS.filter(({ name }) => name === "Redis"),
];

export function serverOf(kind: string): ServerKind {
  const found = [...SERVERS, ...JOB_STORES].find(({ name }) => name === kind);
  if (found === undefined) throw new Error(`no server is called ${kind}`);
  return found;
}

/** On a pool of our own: a connection may still be ending when its server does, and says so to the pool. */
function postgresOf(url: string): Store {
  // With a bound on connecting, as the guide says: else a swallowed handshake keeps its place for ever.
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 2_000 });
  pool.on("error", () => {});
  const store = postgresStore({ pool });
  return {
    ...store,
    async close() {
      await store.close();
      await pool.end();
    },
  };
}
