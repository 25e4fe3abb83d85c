/**
 * One PostgreSQL server of its own, which writes to the disk before it answers: kill -9 must lose
 * nothing that was acknowledged.
 */
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { postgresStore } from "../../../packages/holdfast/src/stores/postgres/index.ts";
import { startOwnPostgres, type OwnPostgres } from "../../servers/postgres.ts";
import type { ChaosStore, ChaosTransactions, StartedStore } from "../chaos-store.ts";

const WRITE_PATIENCE_MS = 150;
/** What a handler's own connection has no answer to by then is lost: without it `pg` waits for ever. */
const PATIENCE = { connectionTimeoutMillis: 5_000, query_timeout: 15_000 };
const DURABLE = ["fsync=on", "full_page_writes=on"];

export const postgres: ChaosStore = {
  start: async () => startOn(await startOwnPostgres({ settings: DURABLE })),
  open: (url) => postgresStore({ url }),
  openWithTransactions,
};

function openWithTransactions(url: string): ChaosTransactions {
  const pool = new pg.Pool({ connectionString: url, ...PATIENCE });
  // A connection that is cut while it is idle is replaced by the pool.
  pool.on("error", () => {});
  return {
    store: postgresStore({ url }),
    async begin() {
      const tx = await pool.connect();
      tx.on("error", () => {});
      let isOver = false;
      const ended = async (statement: string): Promise<void> => {
        if (isOver) return;
        isOver = true;
        try {
          await tx.query(statement);
          tx.release();
        } catch (error) {
          // Nobody knows what became of it: it must not be used again.
          tx.release(true);
          throw error;
        }
      };
      try {
        await tx.query("BEGIN");
      } catch (error) {
        tx.release(true);
        throw error;
      }
      return { tx, commit: () => ended("COMMIT"), rollback: () => ended("ROLLBACK") };
    },
  };
}

async function startOn(own: OwnPostgres): Promise<StartedStore> {
  const watch = new WriteWatch(own.url);
  return {
    url: own.url,
    nodes: [new URL(own.url).host],
    server: {
      isWhole: true,
      halt: (how) => own.halt(how),
      resume: () => own.resume(),
    },
    canWrite: () => watch.canWrite(),
    integrity: () => integrity(own.url),
    async stop() {
      watch.close();
      await own.stop();
    },
  };
}

/** Writes beside the store, so that what it sees of locks is nothing: only whether the server works. */
class WriteWatch {
  readonly #url: string;
  #client: pg.Client | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  async canWrite(): Promise<boolean> {
    const client = this.#client ?? new pg.Client(this.#url);
    const isNew = this.#client === null;
    this.#client = client;
    try {
      const written = async (): Promise<boolean> => {
        if (isNew) await this.#connect(client);
        await client.query("UPDATE chaos_watch SET at = now()");
        return true;
      };
      const late = pause(WRITE_PATIENCE_MS * (isNew ? 5 : 1), false);
      const isWritten = await Promise.race([written(), late]);
      if (!isWritten) this.close();
      return isWritten;
    } catch {
      this.close();
      return false;
    }
  }

  async #connect(client: pg.Client): Promise<void> {
    client.on("error", () => {});
    await client.connect();
    await client.query("CREATE TABLE IF NOT EXISTS chaos_watch (at timestamptz)");
    await client.query(
      "INSERT INTO chaos_watch SELECT now() WHERE NOT EXISTS (SELECT FROM chaos_watch)",
    );
  }

  close(): void {
    void this.#client?.end().catch(() => {});
    this.#client = null;
  }
}

/** Every job stands in exactly one place, and every place holds a job. */
const MISPLACED = `
  WITH place AS (
    SELECT seq, 'ready' AS name FROM holdfast.ready UNION ALL
    SELECT seq, 'delayed' FROM holdfast.delayed UNION ALL
    SELECT seq, 'leased' FROM holdfast.leased UNION ALL
    SELECT seq, 'done' FROM holdfast.done)
  SELECT seq, count(place.name) AS places, string_agg(place.name, ', ') AS names
  FROM holdfast.job FULL JOIN place USING (seq)
  GROUP BY seq HAVING count(place.name) <> 1 OR count(job.seq) = 0`;

/** What is counted as work goes on, against what there is. */
const MISCOUNTED = `
  WITH kept AS (
    SELECT q, name, sum(n) AS n
    FROM (SELECT q, ready, delayed, succeeded, dead, cancelled FROM holdfast.tally UNION ALL
        SELECT q, ready, delayed, succeeded, dead, cancelled FROM holdfast.tally_late) t,
      LATERAL (VALUES ('ready', ready), ('delayed', delayed), ('succeeded', succeeded),
        ('dead', dead), ('cancelled', cancelled)) v (name, n)
    GROUP BY q, name
  ), there AS (
    SELECT q, 'ready' AS name, count(*) AS n FROM holdfast.ready GROUP BY q UNION ALL
    SELECT q, 'delayed', count(*) FROM holdfast.delayed GROUP BY q UNION ALL
    SELECT q, (ARRAY['succeeded', 'dead', 'cancelled'])[status], count(*)
      FROM holdfast.done GROUP BY q, status)
  SELECT q, name, coalesce(kept.n, 0) AS kept, coalesce(there.n, 0) AS there
  FROM kept FULL JOIN there USING (q, name)
  WHERE coalesce(kept.n, 0) <> coalesce(there.n, 0)`;

async function integrity(url: string): Promise<string[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const found: string[] = [];
    for (const row of (await client.query(MISPLACED)).rows as Record<string, string>[]) {
      const { seq, places, names } = row;
      found.push(`job row ${seq} stands in ${places} places: ${names ?? "none"}`);
    }
    for (const row of (await client.query(MISCOUNTED)).rows as Record<string, string>[]) {
      const { q, name, kept, there } = row;
      found.push(`queue ${q}: ${kept} ${name} are counted, and ${there} are there`);
    }
    return found;
  } finally {
    await client.end();
  }
}
