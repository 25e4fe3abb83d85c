/**
 * Looking. Pages go by the order of insertion, and every call does a bounded amount of work: what an
 * index does not decide is looked for in a window of so many jobs, and a page may end short, with a
 * cursor, at the end of its window.
 *
 * Which rows are walked depends on the statuses that are asked for: running jobs are the few rows of
 * `leased`, dead and cancelled ones have an index, and a few queued ones are taken from where they
 * stand. Only what is left walks all jobs.
 */
import { InvalidCursorError } from "../../core/errors.ts";
import type { JobStatus, StoredJob } from "../../core/job.ts";
import { JOB_STATUSES } from "../../core/job.ts";
import type { JobFilter, JobPage, JobRef, PageRequest } from "../../core/store.ts";
import type { Connection } from "./connection.ts";
import type { SqlValue } from "./database-like.ts";
import { jobSummary, storedJob } from "./job-view.ts";
import { STATUSES } from "./placement.ts";
import { settledFenceOfGone } from "./tombstones.ts";

const LOOK_AT_MOST = 2_000;

const WAITING = "SELECT coalesce(sum(ready + delayed), 0) FROM holdfast_queue";
const QUEUE_NUMBER = "SELECT q FROM holdfast_queue WHERE name = ?";
const WAITING_SEQS = "SELECT seq FROM holdfast_ready UNION ALL SELECT seq FROM holdfast_later";

export function get(
  db: Connection,
  refs: readonly JobRef[],
  now: number,
): (StoredJob | "pruned" | null)[] {
  return refs.map(({ id }) => {
    const job = storedJob(db, id);
    if (job !== null) return job;
    return settledFenceOfGone(db, { id, now }) === null ? null : "pruned";
  });
}

export function find(
  db: Connection,
  filter: JobFilter,
  { page, now }: { readonly page: PageRequest; readonly now: number },
): JobPage {
  const { seqs, nextCursor } = pageOfSeqs(db, filter, { page, now });
  return { jobs: seqs.flatMap((seq) => jobSummary(db, seq) ?? []), nextCursor };
}

interface Condition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

interface Look {
  readonly page: PageRequest;
  readonly now: number;
  /** Jobs created or finished after this are left out. */
  readonly frozenAt?: number;
}

/** The numbers of the jobs of a page, in its order. */
export function pageOfSeqs(
  db: Connection,
  filter: JobFilter,
  look: Look,
): { readonly seqs: readonly number[]; readonly nextCursor: string | null } {
  const { limit, cursor = null, order = "newest" } = look.page;
  const after = cursor === null ? null : seqOf(cursor, order);
  const queue = filter.queue === undefined ? null : db.value(QUEUE_NUMBER, filter.queue);
  const statuses = statusesOf(filter);
  const nothing = { seqs: [], nextCursor: null };
  if (limit <= 0 || queue === undefined || statuses.length === 0) return nothing;
  const conditions = conditionsOf(filter, { ...look, queue: queue as number | null });
  const walk = { db, order, after, limit, conditions };
  const parts = sourcesOf(db, statuses).map((source) => walkOne(walk, source));
  return merge(parts, walk);
}

interface Walk {
  readonly db: Connection;
  readonly order: "newest" | "oldest";
  /** The cursor. */
  readonly after: number | null;
  readonly limit: number;
  readonly conditions: readonly Condition[];
}

/** Some rows that have a `seq`, and what more they must be asked for. */
interface Source extends Condition {
  readonly table: string;
  readonly conditions: readonly Condition[];
}

interface Part {
  readonly seqs: readonly number[];
  /** Nothing is known beyond this one; null if there is nothing beyond. */
  readonly end: number | null;
}

function walkOne({ db, order, after, limit, conditions }: Walk, source: Source): Part {
  const isDown = order === "newest";
  const past: Condition[] =
    after === null ? [] : [{ sql: `s.seq ${isDown ? "<" : ">"} ?`, values: [after] }];
  const range = [source, ...past];
  const rest = [...source.conditions, ...conditions];
  const ordered = `ORDER BY s.seq ${isDown ? "DESC" : "ASC"}`;
  const end =
    rest.length === 0
      ? null
      : ((db.value(
          `SELECT s.seq FROM ${source.table} s ${whereOf(range)} ${ordered}
           LIMIT 1 OFFSET ${LOOK_AT_MOST - 1}`,
          ...valuesOf(range),
        ) as number | undefined) ?? null);
  const window = end === null ? [] : [{ sql: `s.seq ${isDown ? ">=" : "<="} ?`, values: [end] }];
  const all = [...range, ...window, ...rest];
  const rows = db
    .rows<[number]>(
      `SELECT s.seq FROM ${source.table} s CROSS JOIN holdfast_job j ON j.seq = s.seq
       LEFT JOIN holdfast_done d ON d.seq = s.seq
       LEFT JOIN holdfast_leased p ON p.seq = s.seq
       LEFT JOIN holdfast_later a ON a.seq = s.seq
       LEFT JOIN holdfast_details t ON t.seq = s.seq
       ${whereOf(all)} ${ordered} LIMIT ? + 0`,
    )
    .all(...valuesOf(all), limit + 1);
  return { seqs: rows.map(([seq]) => seq), end };
}

/** One page from the pages of several sources: only as far as all of them have looked. */
function merge(
  parts: readonly Part[],
  { order, limit }: Walk,
): { readonly seqs: readonly number[]; readonly nextCursor: string | null } {
  const isBefore = (a: number, b: number): boolean => (order === "newest" ? a > b : a < b);
  const ends = parts.flatMap(({ end, seqs }) => {
    const lastSeen = seqs.length > limit ? (seqs.at(-1) ?? null) : null;
    return [end, lastSeen].filter((seq) => seq !== null);
  });
  const end = ends.length === 0 ? null : ends.reduce((a, b) => (isBefore(a, b) ? a : b));
  const seqs = [...new Set(parts.flatMap((part) => part.seqs))]
    .filter((seq) => end === null || seq === end || isBefore(seq, end))
    .sort((a, b) => (isBefore(a, b) ? -1 : 1));
  const shown = seqs.slice(0, limit);
  const last = seqs.length > limit ? (shown.at(-1) ?? null) : end;
  return { seqs: shown, nextCursor: last === null ? null : cursorOf(last, order) };
}

function statusesOf({ status = JOB_STATUSES, delayed }: JobFilter): JobStatus[] {
  const wanted = new Set(delayed === undefined ? status : status.filter((one) => one === "queued"));
  return [...wanted];
}

const NO_CONDITION = { sql: "", values: [], conditions: [] };

function sourcesOf(db: Connection, statuses: readonly JobStatus[]): Source[] {
  const everything: Source = {
    ...NO_CONDITION,
    table: "holdfast_job",
    conditions: statuses.length === JOB_STATUSES.length ? [] : [isOneOf(statuses)],
  };
  const sources: Source[] = [];
  for (const status of statuses) {
    if (status === "succeeded") return [everything];
    if (status === "queued") {
      if (Number(db.value(WAITING)) > LOOK_AT_MOST) return [everything];
      const seqs = db.rows<[number]>(WAITING_SEQS).all();
      const list = JSON.stringify(seqs.map(([seq]) => seq));
      const table = "(SELECT value AS seq FROM json_each(?))";
      sources.push({ ...NO_CONDITION, table, values: [list] });
    } else if (status === "processing") {
      sources.push({ ...NO_CONDITION, table: "holdfast_leased" });
    } else {
      const sql = `s.status = ${STATUSES.indexOf(status)} AND s.status > 1`;
      sources.push({ ...NO_CONDITION, table: "holdfast_done", sql });
    }
  }
  return sources;
}

function isOneOf(statuses: readonly JobStatus[]): Condition {
  const codes = statuses.map((status) => STATUSES.indexOf(status));
  return {
    sql: `coalesce(d.status, iif(p.seq IS NULL, 0, 4)) IN (${codes.join(", ")})`,
    values: [],
  };
}

function conditionsOf(
  filter: JobFilter,
  { queue, now, frozenAt }: Look & { readonly queue: number | null },
): Condition[] {
  const { delayed, group, type, tag, category, from, to } = filter;
  const conditions: Condition[] = [];
  const add = (sql: string, value: SqlValue | undefined | null): void => {
    if (value !== undefined && value !== null) conditions.push({ sql, values: [value] });
  };
  add("j.q = ?", queue);
  add("j.grp = ?", group);
  add("j.type = ?", type);
  add("EXISTS (SELECT 1 FROM json_each(j.tags) e WHERE e.value = ?)", tag);
  add("t.category = ?", category);
  add("j.created_at >= ?", from);
  add("j.created_at < ?", to);
  if (delayed !== undefined) {
    add(delayed ? "a.run_at > ?" : "coalesce(a.run_at, 0) <= ?", now);
    conditions.push({ sql: "d.seq IS NULL AND p.seq IS NULL", values: [] });
  }
  add("j.created_at <= ?", frozenAt);
  add("coalesce(d.finished_at, 0) <= ?", frozenAt);
  return conditions;
}

function whereOf(conditions: readonly Condition[]): string {
  const sqls = conditions.map(({ sql }) => sql).filter((sql) => sql !== "");
  return sqls.length === 0 ? "" : `WHERE ${sqls.join(" AND ")}`;
}

function valuesOf(conditions: readonly Condition[]): SqlValue[] {
  return conditions.flatMap(({ values }) => values);
}

function cursorOf(seq: number, order: "newest" | "oldest"): string {
  return `${order === "newest" ? "n" : "o"}:${seq}`;
}

function seqOf(cursor: string, order: "newest" | "oldest"): number {
  const seq = Number(cursor.slice(2));
  if (Number.isSafeInteger(seq) && cursor === cursorOf(seq, order)) return seq;
  throw new InvalidCursorError(
    "this cursor is not from a page of this order: start again without one",
  );
}
