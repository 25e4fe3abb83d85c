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
import { JOB_STATUSES, type JobStatus } from "../../core/job.ts";
import type { JobFilter, JobPage, PageRequest } from "../../core/store.ts";
import type { Clock } from "./clock.ts";
import { msOf } from "./clock.ts";
import type { Value } from "./database.ts";
import { summaries } from "./job-view.ts";
import type { Asker, QueueBook } from "./queue-book.ts";
import { number, numbers } from "./row-values.ts";
import { STATUSES } from "./placement.ts";

const LOOK_AT_MOST = 2_000;

const WAITING = `
  SELECT coalesce(sum(ready + delayed), 0) FROM (
    SELECT ready, delayed FROM holdfast.tally
    UNION ALL SELECT ready, delayed FROM holdfast.tally_late) t`;

/** Whoever can ask for statements that were put together for one call. */
export interface FreeAsker extends Asker {
  rowsOnce: Asker["rows"];
}

export interface FindOptions {
  readonly db: FreeAsker;
  readonly queues: QueueBook;
  readonly clock: Clock;
}

export async function find(
  options: FindOptions,
  filter: JobFilter,
  page: PageRequest,
): Promise<JobPage> {
  const { seqs, nextCursor } = await pageOfSeqs(options, filter, { page });
  return { jobs: await summaries(options.db, seqs, options.clock), nextCursor };
}

interface Look {
  readonly page: PageRequest;
  /** Jobs created or finished after this are left out. */
  readonly frozenAt?: number;
}

interface PageOfSeqs {
  readonly seqs: readonly number[];
  readonly nextCursor: string | null;
}

const NOTHING: PageOfSeqs = { seqs: [], nextCursor: null };

/** The numbers of the jobs of a page, in its order. */
export async function pageOfSeqs(
  { db, queues, clock }: FindOptions,
  filter: JobFilter,
  look: Look,
): Promise<PageOfSeqs> {
  const { limit, cursor = null, order = "newest" } = look.page;
  const after = cursor === null ? null : seqOf(cursor, order);
  const q = filter.queue === undefined ? null : await queues.find(filter.queue);
  const statuses = statusesOf(filter);
  const isUnknown = filter.queue !== undefined && q === null;
  if (limit <= 0 || isUnknown || statuses.length === 0) return NOTHING;
  const walk: Walk = { order, after, limit, filter, q, clock, frozenAt: look.frozenAt };
  const parts: Part[] = [];
  for (const source of await sourcesOf(db, statuses)) parts.push(await walkOne(db, walk, source));
  return merge(parts, walk);
}

/** Those of these jobs that the filter matches now. */
export async function stillMatching(
  { db, queues, clock }: FindOptions,
  filter: JobFilter,
  { seqs, frozenAt }: { readonly seqs: readonly number[]; readonly frozenAt: number },
): Promise<number[]> {
  if (seqs.length === 0) return [];
  const q = filter.queue === undefined ? null : await queues.find(filter.queue);
  const query = new Query();
  const mine = `SELECT u.seq FROM unnest(${query.value([...seqs])}::bigint[]) AS u (seq)`;
  const wanted = conditionsOf(query, { filter, q, clock, frozenAt });
  wanted.push(isOneOf(statusesOf(filter)));
  const rows = await db.rowsOnce(
    `SELECT w.seq FROM (${mine}) w ${joinsFor(wanted)} ${whereOf(wanted)}`,
    query.values,
  );
  return rows.map((row) => number(row, 0));
}

interface Walk {
  readonly order: "newest" | "oldest";
  /** The cursor. */
  readonly after: number | null;
  readonly limit: number;
  readonly filter: JobFilter;
  readonly q: number | null;
  readonly clock: Clock;
  readonly frozenAt: number | undefined;
}

/** Some rows that have a `seq`, and what more they must be asked for. */
interface Source {
  readonly table: string;
  readonly range: readonly string[];
  readonly rest: readonly string[];
}

interface Part {
  readonly seqs: readonly number[];
  /** Nothing is known beyond this one; null if there is nothing beyond. */
  readonly end: number | null;
}

/** A statement in the making: the values it needs so far. */
class Query {
  readonly values: Value[] = [];

  /** Takes a value and answers how the statement names it. */
  value(value: Value): string {
    return `$${this.values.push(value)}`;
  }
}

/**
 * What conditions may ask about a row `w`, by the letter they use. Each is one step through an index:
 * a plain join may be planned as a scan of the whole table, which is then as large as it likes.
 */
const JOINS = [
  ["j", "JOIN", "job"],
  ["d", "LEFT JOIN", "done"],
  ["p", "LEFT JOIN", "leased"],
  ["a", "LEFT JOIN", "delayed"],
  ["t", "LEFT JOIN", "job_details"],
] as const;

function joinsFor(conditions: readonly string[]): string {
  const text = conditions.join(" ");
  return JOINS.filter(([letter]) => new RegExp(`\\b${letter}\\.`).test(text))
    .map(
      ([letter, join, table]) => `${join} LATERAL (
         SELECT * FROM holdfast.${table} x WHERE x.seq = w.seq OFFSET 0) ${letter} ON true`,
    )
    .join("\n");
}

function whereOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
}

async function walkOne(db: FreeAsker, walk: Walk, source: Source): Promise<Part> {
  const { order, after, limit } = walk;
  const isDown = order === "newest";
  const direction = isDown ? "DESC" : "ASC";
  const query = new Query();
  const past = after === null ? [] : [`s.seq ${isDown ? "<" : ">"} ${query.value(after)}`];
  const range = [...source.range, ...past];
  const rest = [...source.rest, ...conditionsOf(query, walk)];
  const size = rest.length === 0 ? limit + 1 : LOOK_AT_MOST;
  const [row] = await db.rowsOnce(
    `WITH looked AS MATERIALIZED (
       SELECT s.seq FROM ${source.table} s ${whereOf(range)} ORDER BY s.seq ${direction} LIMIT ${size})
     SELECT (SELECT count(*) FROM looked), (SELECT ${isDown ? "min" : "max"}(seq) FROM looked), ARRAY(
       SELECT w.seq FROM looked w ${joinsFor(rest)} ${whereOf(rest)}
       ORDER BY w.seq ${direction} LIMIT ${limit + 1})`,
    query.values,
  );
  if (row === undefined) throw new Error("a page without a row");
  const isWhole = number(row, 0) < size;
  return { seqs: numbers(row, 2), end: isWhole ? null : number(row, 1) };
}

/** One page from the pages of several sources: only as far as all of them have looked. */
function merge(parts: readonly Part[], { order, limit }: Walk): PageOfSeqs {
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
  return [...new Set(delayed === undefined ? status : status.filter((one) => one === "queued"))];
}

async function sourcesOf(db: Asker, statuses: readonly JobStatus[]): Promise<Source[]> {
  const isAll = statuses.length === JOB_STATUSES.length;
  const rest = isAll ? [] : [isOneOf(statuses)];
  const everything: Source = { table: "holdfast.job", range: [], rest };
  const sources: Source[] = [];
  for (const status of statuses) {
    if (status === "succeeded") return [everything];
    if (status === "queued") {
      const [row] = await db.rows(WAITING);
      if (row === undefined || number(row, 0) > LOOK_AT_MOST) return [everything];
      const table = "(SELECT seq FROM holdfast.ready UNION ALL SELECT seq FROM holdfast.delayed)";
      sources.push({ table, range: [], rest: [] });
    } else if (status === "processing") {
      sources.push({ table: "holdfast.leased", range: [], rest: [] });
    } else {
      const range = [`s.status = ${STATUSES.indexOf(status)}`, "s.status > 1"];
      sources.push({ table: "holdfast.done", range, rest: [] });
    }
  }
  return sources;
}

function isOneOf(statuses: readonly JobStatus[]): string {
  const codes = statuses.map((status) => STATUSES.indexOf(status));
  const status = "coalesce(d.status, CASE WHEN p.seq IS NULL THEN 0 ELSE 4 END)";
  return codes.length === 0 ? "false" : `${status} IN (${codes.join(", ")})`;
}

function conditionsOf(
  query: Query,
  { filter, q, clock, frozenAt }: Pick<Walk, "filter" | "q" | "clock" | "frozenAt">,
): string[] {
  const { delayed, group, type, tag, category, from, to } = filter;
  const conditions: string[] = [];
  const add = (sql: (value: string) => string, value: string | number | null | undefined): void => {
    if (value !== undefined && value !== null) conditions.push(sql(query.value(value)));
  };
  add((value) => `j.q = ${value}`, q);
  add((value) => `j.grp = ${value}`, group);
  add((value) => `j.type = ${value}`, type);
  add((value) => `j.tags IS NOT NULL AND j.tags::jsonb @> jsonb_build_array(${value}::text)`, tag);
  add((value) => `t.category = ${value}`, category);
  add((value) => `j.created_at >= ${value}`, from);
  add((value) => `j.created_at < ${value}`, to);
  if (delayed !== undefined) {
    const seen = query.value(msOf(clock.seen));
    const now = `greatest(holdfast.clock_us() / 1000, ${seen})`;
    conditions.push(delayed ? `a.run_at > ${now}` : `coalesce(a.run_at, 0) <= ${now}`);
    conditions.push("d.seq IS NULL AND p.seq IS NULL");
  }
  add((value) => `j.created_at <= ${value}`, frozenAt);
  add((value) => `coalesce(d.finished_at, 0) <= ${value}`, frozenAt);
  return conditions;
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
