/**
 * The ceiling: the durable work of a job queue as a careful programmer would write it by hand on
 * SQLite, and nothing else. Its rates are what a queue with these promises could reach at most;
 * Holdfast's are reported as a share of them.
 *
 * It keeps what makes a queue safe: a UUIDv7 id that cannot be stored twice, an order by priority and
 * age through an index, leases with owner, end and fence, an index that finds the leases that ran out,
 * a count of attempts, a settle that checks the fence, finished jobs kept, and every acknowledgement
 * after a commit with `synchronous = FULL`. It leaves out the rest: queues, groups and fair turns,
 * holds and caps, retries, delays, keys, counts, results, events, wakeups, a settle that may be
 * repeated, retention.
 *
 * One table with a status column. A body written once beside small rows that move, as Holdfast lays
 * it out, was tried and came out equal within the noise; this is shorter.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { uuidV7 } from "./uuid-v7.ts";

export interface RawLease {
  readonly seq: number;
  readonly fence: number;
  readonly payload: string;
}

/** Status: 0 waiting, 1 leased, 2 done. The payload comes last: updates before it keep its bytes in place. */
const TABLES = `
CREATE TABLE IF NOT EXISTS job (
  seq INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  type TEXT NOT NULL,
  priority INTEGER NOT NULL,
  status INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  fence INTEGER NOT NULL DEFAULT 0,
  worker TEXT,
  lease_until INTEGER,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  payload TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS job_ready ON job (priority, seq) WHERE status = 0;
CREATE INDEX IF NOT EXISTS job_leased ON job (lease_until) WHERE status = 1;
`;

const PRIORITY = 100;
const LEASE_MS = 10_000;

export class RawSqliteLoop {
  readonly database: DatabaseSync;
  readonly #worker = `raw:${process.pid}`;
  readonly #insert: StatementSync;
  readonly #head: StatementSync;
  readonly #take: StatementSync;
  readonly #finish: StatementSync;
  readonly #delete: StatementSync;

  constructor(file: string) {
    const database = new DatabaseSync(file);
    // The cache as large as Holdfast has it; everything else as SQLite has it.
    database.exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -8000",
    );
    database.exec(TABLES);
    this.database = database;
    this.#insert = database.prepare(
      "INSERT INTO job (id, type, priority, created_at, payload) VALUES (?, ?, ?, ?, ?)",
    );
    this.#head = database.prepare(
      `SELECT seq, fence, payload FROM job INDEXED BY job_ready
       WHERE status = 0 ORDER BY priority, seq LIMIT ?`,
    );
    this.#head.setReturnArrays(true);
    this.#take = database.prepare(
      `UPDATE job SET status = 1, attempts = attempts + 1, fence = ?, worker = ?, lease_until = ?
       WHERE seq = ?`,
    );
    const held = "seq = ? AND fence = ? AND worker = ? AND status = 1";
    this.#finish = database.prepare(`UPDATE job SET status = 2, finished_at = ? WHERE ${held}`);
    this.#delete = database.prepare(`DELETE FROM job WHERE ${held}`);
  }

  /** One transaction. */
  insert(type: string, payloads: readonly string[]): void {
    this.#transaction(() => {
      const now = Date.now();
      for (const payload of payloads) this.#insert.run(uuidV7(now), type, PRIORITY, now, payload);
    });
  }

  /** One transaction. */
  lease(limit: number): RawLease[] {
    return this.#transaction(() => {
      const now = Date.now();
      const rows = this.#head.all(limit) as unknown as (readonly [number, number, string])[];
      return rows.map(([seq, lastFence, payload]) => {
        const fence = Math.max(lastFence + 1, now * 1_000);
        this.#take.run(fence, this.#worker, now + LEASE_MS, seq);
        return { seq, fence, payload };
      });
    });
  }

  /** One transaction. Whoever lost the lease changes nothing and is not counted. */
  settle(leases: readonly RawLease[], options: { readonly keep: boolean }): number {
    return this.#transaction(() => {
      const now = Date.now();
      let settled = 0;
      for (const { seq, fence } of leases) {
        const { changes } = options.keep
          ? this.#finish.run(now, seq, fence, this.#worker)
          : this.#delete.run(seq, fence, this.#worker);
        settled += Number(changes);
      }
      return settled;
    });
  }

  close(): void {
    this.database.close();
  }

  #transaction<T>(work: () => T): T {
    this.database.exec("BEGIN IMMEDIATE");
    try {
      const answer = work();
      this.database.exec("COMMIT");
      return answer;
    } catch (error) {
      this.database.exec("ROLLBACK");
      throw error;
    }
  }
}
