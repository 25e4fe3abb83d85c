/**
 * graphile-worker's private tables: the views have no payload. The lower priority is the first. A job is done for when
 * its attempts are used up; jobs of a named queue run one after another. Its crontab is in a file, not in the database.
 */
import type { Pool } from "pg";
import { poolOf } from "./pool-of.ts";
import { clamp, driver, PAGE, sqlName } from "./source.ts";
import type { ForeignJob, Left, Source, SourceOptions } from "./source.ts";

// A type, not an interface: the driver asks for one that may have more columns.
type Row = {
  readonly id: string;
  readonly task: string;
  readonly queue: string | null;
  readonly payload: unknown;
  readonly priority: number;
  readonly run_at: Date;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
};

export async function graphileWorker(options: SourceOptions): Promise<Source> {
  const { url, at = "graphile_worker" } = options;
  const { default: pg } = await driver("pg", () => import("pg"));
  const pool: Pool = await poolOf(pg, url, { schema: at, table: "_private_jobs" });
  const schema = sqlName(at);
  const count = async (from: string) => {
    const { rows } = await pool.query(`SELECT count(*)::int AS n FROM ${schema}.${from}`);
    return (rows[0] as { readonly n: number }).n;
  };

  async function* jobs(): AsyncGenerator<readonly ForeignJob[]> {
    let after = "0";
    for (;;) {
      const { rows } = await pool.query<Row>(
        `SELECT j.id, t.identifier AS task, q.queue_name AS queue, j.payload, j.priority, j.run_at, j.attempts,
           j.max_attempts, j.last_error, j.created_at, j.updated_at
         FROM ${schema}._private_jobs j
         JOIN ${schema}._private_tasks t ON t.id = j.task_id
         LEFT JOIN ${schema}._private_job_queues q ON q.id = j.job_queue_id
         WHERE j.locked_at IS NULL AND j.id > $1
         ORDER BY j.id LIMIT ${PAGE}`,
        [after],
      );
      const last = rows.at(-1);
      if (last === undefined) return;
      yield rows.map(jobOf);
      after = last.id;
    }
  }

  return {
    running: () => count("_private_jobs WHERE locked_at IS NOT NULL"),
    jobs,
    schedules: async () => [],
    left: async (): Promise<readonly Left[]> => [
      {
        what: "entries of its crontab, which is a file: write them as schedules",
        count: await count("_private_known_crontabs"),
      },
    ],
    close: () => pool.end(),
  };
}

function jobOf(row: Row): ForeignJob {
  const isDead = row.attempts >= row.max_attempts;
  return {
    ...{ key: row.id, type: row.task, queue: null, group: row.queue, payload: row.payload },
    status: isDead ? "dead" : "queued",
    priority: clamp(100 + row.priority),
    ...{ attempts: row.attempts, maxAttempts: row.max_attempts },
    ...{ createdAt: row.created_at.getTime(), runAt: row.run_at.getTime() },
    startedAt: null,
    finishedAt: isDead ? row.updated_at.getTime() : null,
    error: row.last_error === null ? null : { message: row.last_error, stack: null },
  };
}
