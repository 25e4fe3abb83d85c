/**
 * Queues shown as tables, in the file. What has such a name already and is not ours stays as it is. Times are ISO text.
 * No payload can make them throw: what is no JSON leaves its column empty.
 */
import type { CheckedView, ViewColumnSource, ViewWord } from "../../core/queue-views.ts";
import type { Connection } from "./connection.ts";
import { JOB_AND_PLACE } from "./job-view.ts";
import { STATUSES } from "./status-codes.ts";

const MARK = "/* shown by Holdfast */";
const instant = (ms: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', (${ms}) / 1000.0, 'unixepoch')`;
const STATUS = STATUSES.map((status, code) => `WHEN ${code} THEN '${status}'`).join(" ");

const CODE = "coalesce(d.status, iif(p.seq IS NULL, 0, 4))";
const ATTEMPTS = "coalesce(d.attempts, p.attempts, a.attempts, r.attempts)";
const MOST = "coalesce(d.max_attempts, p.max_attempts, a.max_attempts, r.max_attempts)";
const RUN_AT = "coalesce(d.run_at, p.run_at, a.run_at, r.run_at, j.created_at)";
const PHASE = `WHEN 1 THEN 'completed' WHEN 2 THEN 'dead' WHEN 3 THEN 'cancelled' WHEN 4 THEN 'processing'
  ELSE CASE WHEN ${ATTEMPTS} > 0 THEN 'failed' ELSE 'pending' END`;

const WORDS: Readonly<Record<ViewWord, string>> = {
  id: "j.id",
  type: "j.type",
  group: "nullif(j.grp, '')",
  status: `CASE ${CODE} ${STATUS} END`,
  priority: "j.prio",
  attempts: ATTEMPTS,
  maxAttempts: MOST,
  payload: "j.payload",
  result: "coalesce(d.result, t.result)",
  error: "t.message",
  category: "t.category",
  reason: "t.reason",
  worker: "coalesce(w.name, t.worker)",
  createdAt: instant("j.created_at"),
  runAt: instant(RUN_AT),
  startedAt: instant("coalesce(p.leased_at, d.finished_at - d.took, t.started_at)"),
  finishedAt: instant("d.finished_at"),
  operation: "substr(j.type, length(rtrim(j.type, replace(j.type, '.', ''))) + 1)",
  key: "j.key",
  phase: `CASE ${CODE} ${PHASE} END`,
  // The first try is none; one that failed and waits has a retry in front of it.
  retries: `CASE WHEN ${CODE} = 0 OR ${ATTEMPTS} = 0 THEN ${ATTEMPTS} ELSE ${ATTEMPTS} - 1 END`,
  maxRetries: `${MOST} - 1`,
  retryAt: `CASE WHEN ${CODE} = 0 AND ${ATTEMPTS} > 0 THEN ${instant(RUN_AT)} END`,
  completedAt: `CASE WHEN d.status = 1 THEN ${instant("d.finished_at")} END`,
};

const FOUND = "SELECT coalesce(sql, '') FROM sqlite_schema WHERE name = ?";

/**
 * Only what is not there yet is written: a second process of the same code writes nothing. Answers what people
 * should know; a view that cannot be made is no reason not to work.
 */
export async function shownViews(
  db: Connection,
  views: readonly CheckedView[],
  write: (work: (inside: Connection) => string[]) => Promise<string[]>,
): Promise<string[]> {
  if (viewsToShow(db, views).length === 0) return [];
  const shown = write((inside) => showViews(inside, viewsToShow(inside, views)));
  return shown.catch((error: unknown) => [`no view was made: ${String(error)}`]);
}

function viewsToShow(db: Connection, views: readonly CheckedView[]): CheckedView[] {
  return views.filter((view) => db.value(FOUND, view.name) !== sqlOf(view));
}

function showViews(db: Connection, views: readonly CheckedView[]): string[] {
  const warnings: string[] = [];
  for (const view of views) {
    const found = db.value(FOUND, view.name);
    if (found !== undefined && found !== null && !String(found).includes(MARK)) {
      warnings.push(`${view.name} is not a view of a queue and stays as it is`);
      continue;
    }
    db.database.exec(`DROP VIEW IF EXISTS ${view.name}`);
    db.database.exec(sqlOf(view));
  }
  return warnings;
}

function sqlOf({ name, queue, columns }: CheckedView): string {
  return `CREATE VIEW ${name} AS ${MARK} SELECT ${columns.map(columnOf).join(", ")}
  FROM ${JOB_AND_PLACE}
  LEFT JOIN holdfast_details t ON t.seq = j.seq
  LEFT JOIN holdfast_worker w ON w.w = coalesce(p.w, d.w)
  WHERE j.q = (SELECT q.q FROM holdfast_queue q WHERE q.name = '${queue}')`;
}

function columnOf({ name, word, path }: ViewColumnSource): string {
  const source = WORDS[word];
  if (path.length === 0) return `${source} AS ${name}`;
  // A number is a place in a list, as it is for PostgreSQL.
  const steps = path.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `."${step}"`)).join("");
  return `CASE WHEN json_valid(${source}) THEN ${source} ->> '$${steps}' END AS ${name}`;
}
