/**
 * Queues shown as tables, in our schema. What has such a name already and is not ours stays as it is. No payload can
 * make them throw: what cannot be read leaves its column empty.
 */
import { createHash } from "node:crypto";
import type { CheckedView, ViewColumnSource, ViewWord } from "../../core/queue-views.ts";
import type { Session } from "./database.ts";
import { STATUSES } from "./placement.ts";
import { text } from "./row-values.ts";
import type { SchemaName } from "./schema-name.ts";
import { instant } from "./views.ts";

const STATUS = STATUSES.map((status, code) => `WHEN ${code} THEN '${status}'`).join(" ");

const CODE = "coalesce(d.status, CASE WHEN p.seq IS NULL THEN 0 ELSE 4 END)";
const ATTEMPTS = "coalesce(d.attempts, p.attempts, a.attempts, r.attempts)";
const MOST = "coalesce(d.max_attempts, p.max_attempts, a.max_attempts, r.max_attempts)";
const RUN_AT = "coalesce(d.run_at, p.run_at, a.run_at, r.run_at, j.created_at)";
const PHASE = `WHEN 1 THEN 'completed' WHEN 2 THEN 'dead' WHEN 3 THEN 'cancelled' WHEN 4 THEN 'processing'
  ELSE CASE WHEN ${ATTEMPTS} > 0 THEN 'failed' ELSE 'pending' END`;

const WORDS: Readonly<Record<ViewWord, string>> = {
  id: "j.id",
  type: "j.type::text",
  group: "nullif(j.grp, '')::text",
  status: `CASE ${CODE} ${STATUS} END`,
  priority: "j.prio",
  attempts: ATTEMPTS,
  maxAttempts: MOST,
  payload: "j.payload",
  result: "coalesce(d.result, t.result)",
  error: "t.message",
  category: "t.category::text",
  reason: "t.reason",
  worker: "coalesce(p.worker, d.worker, t.worker)",
  createdAt: instant("j.created_at"),
  runAt: instant(RUN_AT),
  startedAt: instant("coalesce(p.leased_at, d.started_at, t.started_at)"),
  finishedAt: instant("d.finished_at"),
  operation: "regexp_replace(j.type::text, '^.*\\.', '')",
  key: "j.key::text",
  phase: `CASE ${CODE} ${PHASE} END`,
  // The first try is none; one that failed and waits has a retry in front of it.
  retries: `CASE WHEN ${CODE} = 0 OR ${ATTEMPTS} = 0 THEN ${ATTEMPTS} ELSE ${ATTEMPTS} - 1 END`,
  maxRetries: `${MOST} - 1`,
  retryAt: `CASE WHEN ${CODE} = 0 AND ${ATTEMPTS} > 0 THEN ${instant(RUN_AT)} END`,
  completedAt: `CASE WHEN d.status = 1 THEN ${instant("d.finished_at")} END`,
};

/** JSON may hold what text of PostgreSQL cannot: then that is replaced, or the word is empty. */
const WORD_FUNCTION = `
CREATE OR REPLACE FUNCTION holdfast.word_of(p_json text, p_path text[]) RETURNS text
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
  RETURN p_json::json #>> p_path;
EXCEPTION WHEN OTHERS THEN
  BEGIN
    RETURN regexp_replace(p_json, '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\ufffd', 'g')::json
      #>> p_path;
  EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
  END;
END $$`;

/** Answers what people should know. */
export async function showQueueViews(
  session: Session,
  schema: SchemaName,
  views: readonly CheckedView[],
): Promise<string[]> {
  const warnings: string[] = [];
  for (const view of views) {
    const select = selectOf(view);
    const hash = createHash("sha256").update(select).digest("hex").slice(0, 16);
    const mark = `Shown by Holdfast: ${hash}`;
    const comment = await commentOn(session, schema, view.name);
    if (comment === mark) continue;
    if (comment !== null && !comment.startsWith("Shown by Holdfast: ")) {
      warnings.push(`"${schema.name}".${view.name} is not a view of a queue and stays as it is`);
      continue;
    }
    try {
      await session.script(`BEGIN; ${WORD_FUNCTION};
        DROP VIEW IF EXISTS holdfast.${view.name};
        CREATE VIEW holdfast.${view.name} AS ${select};
        COMMENT ON VIEW holdfast.${view.name} IS '${mark}'; COMMIT`);
    } catch (error) {
      await session.script("ROLLBACK");
      // Another process made it in the same moment.
      if ((await commentOn(session, schema, view.name)) === mark) continue;
      const why = error instanceof Error ? error.message : String(error);
      warnings.push(`the view "${schema.name}".${view.name} could not be made: ${why}`);
    }
  }
  return warnings;
}

function selectOf({ queue, columns }: CheckedView): string {
  // What looks like a name of our schema is taken for one.
  const name = `'${queue.replaceAll("holdfast.", "holdfast' || '.")}'`;
  return `
    SELECT ${columns.map(columnOf).join(", ")}
    FROM holdfast.job j
    LEFT JOIN holdfast.done d ON d.seq = j.seq
    LEFT JOIN holdfast.leased p ON p.seq = j.seq
    LEFT JOIN holdfast.delayed a ON a.seq = j.seq
    LEFT JOIN holdfast.ready r ON r.q = j.q AND r.grp = j.grp AND r.prio = j.prio AND r.seq = j.seq
    LEFT JOIN holdfast.job_details t ON t.seq = j.seq
    WHERE j.q = (SELECT q.q FROM holdfast.queue q WHERE q.name = ${name})`;
}

function columnOf({ name, word, path }: ViewColumnSource): string {
  const source = WORDS[word];
  if (path.length === 0) return `${source} AS ${name}`;
  return `holdfast.word_of(${source}, '{${path.map((step) => `"${step}"`).join(",")}}') AS ${name}`;
}

/** Null: there is nothing of this name. Empty: no word about it. */
async function commentOn(
  session: Session,
  schema: SchemaName,
  name: string,
): Promise<string | null> {
  const [row] = await session.script(`
    SELECT coalesce(obj_description(c.oid, 'pg_class'), '')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = '${schema.name}' AND c.relname = '${name}'`);
  return row === undefined ? null : text(row, 0);
}
