/**
 * The ceiling: the durable work of a job queue as a careful programmer would write it by hand on
 * PostgreSQL, and nothing else: three statements, three commits, 100 jobs each. Its rates are what a
 * queue with these promises could reach at most; Holdfast's are reported as a share of them.
 *
 * It keeps what makes a queue safe: a UUIDv7 id that cannot be stored twice, an order by priority and
 * age through an index, leases with owner, end and fence, an index that finds the leases that ran out,
 * a count of attempts, a settle that checks the fence, finished jobs kept, the database's clock, and
 * every acknowledgement after a commit. Several loops may run at once (`SKIP LOCKED`). It leaves out
 * the rest: queues, groups and fair turns, holds and caps, retries, delays, keys, counts, results,
 * events, wakeups, a settle that may be repeated, retention, upkeep.
 */
import pg from "pg";
import { uuidV7Text } from "./uuid-v7.ts";

export interface RawLease {
  readonly seq: string;
  readonly fence: string;
  readonly payload: string;
}

/** Status: 0 waiting, 1 leased, 2 done. */
const TABLES = `
CREATE TABLE IF NOT EXISTS raw_job (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  fence bigint NOT NULL DEFAULT 0,
  lease_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  id uuid NOT NULL UNIQUE,
  priority integer NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  status smallint NOT NULL DEFAULT 0,
  type text NOT NULL,
  worker text,
  payload text NOT NULL
);
CREATE INDEX IF NOT EXISTS raw_job_ready ON raw_job (priority, seq) WHERE status = 0;
CREATE INDEX IF NOT EXISTS raw_job_leased ON raw_job (lease_until) WHERE status = 1;
`;

const INSERT = `
INSERT INTO raw_job (id, type, priority, payload)
SELECT id, $3, 100, payload FROM unnest($1::uuid[], $2::text[]) AS new (id, payload)`;

const LEASE = `
UPDATE raw_job SET status = 1, attempts = attempts + 1, worker = $2,
  fence = greatest(fence + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
  lease_until = clock_timestamp() + interval '10 seconds'
WHERE seq = ANY (ARRAY(
  SELECT seq FROM raw_job WHERE status = 0
  ORDER BY priority, seq LIMIT $1 FOR UPDATE SKIP LOCKED))
RETURNING seq, fence, payload`;

const HELD = `
  FROM unnest($1::bigint[], $2::bigint[]) AS mine (seq, fence)
WHERE job.seq = mine.seq AND job.fence = mine.fence AND job.worker = $3 AND job.status = 1`;
const FINISH = `UPDATE raw_job AS job SET status = 2, finished_at = clock_timestamp() ${HELD}`;
const DELETE = `DELETE FROM raw_job AS job ${HELD.replace("FROM", "USING")}`;

export class RawPostgresLoop {
  readonly client: pg.Client;
  readonly #worker = `raw:${process.pid}`;

  private constructor(client: pg.Client) {
    this.client = client;
  }

  static async open(url: string): Promise<RawPostgresLoop> {
    const client = new pg.Client(url);
    await client.connect();
    await client.query(TABLES);
    return new RawPostgresLoop(client);
  }

  async insert(type: string, payloads: readonly string[]): Promise<void> {
    const now = Date.now();
    const ids = payloads.map(() => uuidV7Text(now));
    await this.client.query({ name: "insert", text: INSERT, values: [ids, payloads, type] });
  }

  async lease(limit: number): Promise<RawLease[]> {
    const values = [limit, this.#worker];
    return (await this.client.query<RawLease>({ name: "lease", text: LEASE, values })).rows;
  }

  /** Whoever lost the lease changes nothing and is not counted. */
  async settle(leases: readonly RawLease[], { keep }: { readonly keep: boolean }): Promise<number> {
    const { rowCount } = await this.client.query({
      name: keep ? "finish" : "delete",
      text: keep ? FINISH : DELETE,
      values: [leases.map(({ seq }) => seq), leases.map(({ fence }) => fence), this.#worker],
    });
    return rowCount ?? 0;
  }

  close(): Promise<void> {
    return this.client.end();
  }
}
