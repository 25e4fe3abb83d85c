/** The servers that producers and ledgers must survive, each to be ended and started again at will. */
import pg from "pg";
import type { Store } from "../../src/index.ts";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { startOwnPostgres } from "../servers/postgres.ts";
import type { TestServer } from "../servers/server-desk.ts";

export interface OutageServer extends TestServer {
  halt(how: "fast" | "kill"): Promise<void>;
  resume(): Promise<void>;
}

export interface ServerKind {
  readonly name: string;
  start(): Promise<OutageServer>;
  store(url: string): Store;
}

/** A store with a server of its own joins this list. */
export const SERVERS: readonly ServerKind[] = [
  {
    name: "PostgreSQL",
    start: () => startOwnPostgres(),
    store: postgresOf,
  },
];

/** On a pool of our own: a connection may still be ending when its server does, and says so to the pool. */
function postgresOf(url: string): Store {
  const pool = new pg.Pool({ connectionString: url });
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
