/**
 * pg-boss's tables: `job` with the states created, retry, active, completed, cancelled and failed; `schedule`. The higher
 * priority is the first. `retry_count` counts tries after the first.
 */
import type { Pool } from "pg";
import { poolOf } from "./pool-of.ts";
import { clamp, driver, PAGE, sqlName, textOf } from "./source.ts";
import type { ForeignJob, ForeignSchedule, Left, Source, SourceOptions } from "./source.ts";

// A type, not an interface: the driver asks for one that may have more columns.
type Row = {
  readonly id: string;
  readonly name: string;
  readonly priority: number;
  readonly data: unknown;
  readonly state: "created" | "retry" | "failed";
  readonly retry_limit: number;
  readonly retry_count: number;
  readonly start_after: Date;
  readonly created_on: Date;
  readonly started_on: Date | null;
  readonly completed_on: Date | null;
  readonly output: unknown;
};

export async function pgBoss({ url, at = "pgboss" }: SourceOptions): Promise<Source> {
  const { default: pg } = await driver("pg", () => import("pg"));
  const pool: Pool = await poolOf(pg, url, { schema: at, table: "job" });
  const schema = sqlName(at);
  const has = await columnsOf(pool, at);
  // Jobs that wait for others came with version 12.
  const free = has("job", "blocked") ? "NOT blocked" : "true";
  const kind = has("schedule", "kind") ? "kind" : "'cron'";
  const key = has("schedule", "key") ? "key" : "''";
  const count = async (where: string) => {
    const { rows } = await pool.query(
      `SELECT count(*)::int AS n FROM ${schema}.job WHERE ${where}`,
    );
    return (rows[0] as { readonly n: number }).n;
  };

  async function* jobs(): AsyncGenerator<readonly ForeignJob[]> {
    let after: readonly [string, string] = ["", "00000000-0000-0000-0000-000000000000"];
    for (;;) {
      const { rows } = await pool.query<Row>(
        `SELECT id, name, priority, data, state, retry_limit, retry_count, start_after, created_on, started_on,
           completed_on, output
         FROM ${schema}.job
         WHERE state IN ('created', 'retry', 'failed') AND ${free} AND name NOT LIKE '\\_\\_pgboss\\_\\_%'
           AND (name, id) > ($1, $2::uuid)
         ORDER BY name, id LIMIT ${PAGE}`,
        [...after],
      );
      const last = rows.at(-1);
      if (last === undefined) return;
      yield rows.map(jobOf);
      after = [last.name, last.id];
    }
  }

  return {
    running: () => count("state = 'active'"),
    jobs,
    async schedules() {
      const { rows } = await pool.query<
        Record<"name" | "key" | "cron" | "timezone", string | null> & { data: unknown }
      >(
        `SELECT name, ${key} AS key, cron, timezone, data FROM ${schema}.schedule WHERE ${kind} = 'cron' ORDER BY 1, 2`,
      );
      return rows.map((row): ForeignSchedule => {
        const name = row.name ?? "";
        return {
          ...{ name: row.key ? `${name}.${row.key}` : name, type: name, queue: null },
          ...{ payload: row.data ?? {}, cron: row.cron, timeZone: row.timezone ?? "UTC" },
          ...{ everyMs: null, startAfterMs: null, isPaused: false },
        };
      });
    },
    async left(): Promise<readonly Left[]> {
      const { rows } = await pool.query(
        `SELECT count(*)::int AS n FROM ${schema}.schedule WHERE ${kind} <> 'cron'`,
      );
      return [
        {
          what: "jobs that wait for other jobs",
          count: free === "true" ? 0 : await count("blocked"),
        },
        { what: "schedules by a recurrence rule", count: (rows[0] as { readonly n: number }).n },
      ];
    },
    close: () => pool.end(),
  };
}

function jobOf(row: Row): ForeignJob {
  const status = row.state === "failed" ? "dead" : "queued";
  const attempts = row.state === "created" ? 0 : row.retry_count + 1;
  const createdAt = row.created_on.getTime();
  return {
    ...{ key: row.id, type: row.name, queue: null, group: null, payload: row.data, status },
    priority: clamp(100 - row.priority),
    attempts,
    maxAttempts: Math.max(row.retry_limit + 1, status === "dead" ? attempts : attempts + 1),
    ...{ createdAt, runAt: row.start_after.getTime() },
    startedAt: row.started_on?.getTime() ?? null,
    finishedAt: status === "dead" ? (row.completed_on?.getTime() ?? createdAt) : null,
    error: errorOf(row.output),
  };
}

function errorOf(output: unknown): ForeignJob["error"] {
  if (output === null || output === undefined) return null;
  const { message, stack } = Object(output) as {
    readonly message?: unknown;
    readonly stack?: unknown;
  };
  return {
    message: typeof message === "string" ? message : textOf(output),
    stack: typeof stack === "string" ? stack : null,
  };
}

async function columnsOf(
  pool: Pool,
  schema: string,
): Promise<(table: string, column: string) => boolean> {
  const { rows } = await pool.query<{ readonly t: string; readonly c: string }>(
    "SELECT table_name AS t, column_name AS c FROM information_schema.columns WHERE table_schema = $1",
    [schema],
  );
  return (table, column) => rows.some(({ t, c }) => t === table && c === column);
}
