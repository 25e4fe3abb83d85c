/**
 * Looking. Pages go by the order of insertion, and every call does a bounded amount of work: what an
 * index does not decide is looked for in a window of so many jobs, and a page may end short, with a
 * cursor, at the end of its window. Where it looks is said in `find-sources.ts`.
 */
import { InvalidCursorError } from "../../core/errors.ts";
import { isFinished, JOB_STATUSES, type JobStatus, type StoredJob } from "../../core/job.ts";
import type { JobFilter, JobPage, JobRef, PageRequest } from "../../core/store.ts";
import type { Connection } from "./connection.ts";
import { conditionsFor, joinsFor, valuesOf, whereOf, type Condition } from "./find-conditions.ts";
import { sourcesFor, type Look, type Source } from "./find-sources.ts";
import { jobSummary, storedJob } from "./job-view.ts";
import { settledFenceOfGone } from "./tombstones.ts";

const QUEUE_NUMBER = "SELECT q FROM holdfast_queue WHERE name = ?";

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
  const jobs = seqs.flatMap((seq) => jobSummary(db, seq, page.without) ?? []);
  return { jobs, nextCursor };
}

/** The numbers of the jobs of a page, in its order. */
export function pageOfSeqs(
  db: Connection,
  filter: JobFilter,
  how: {
    readonly page: PageRequest;
    readonly now: number;
    /** Jobs created or finished after this are left out. */
    readonly frozenAt?: number;
  },
): { readonly seqs: readonly number[]; readonly nextCursor: string | null } {
  const { page, now, frozenAt } = how;
  const { limit, cursor = null, order = "newest" } = page;
  const after = cursor === null ? null : seqOf(cursor, order);
  const queue = filter.queue === undefined ? null : db.value(QUEUE_NUMBER, filter.queue);
  const statuses = statusesOf(filter);
  const nothing = { seqs: [], nextCursor: null };
  if (limit <= 0 || queue === undefined || statuses.length === 0) return nothing;
  const look = { db, filter, page, after, now, frozenAt, queue: queue as number | null };
  const parts = sourcesFor(look, statuses).map((source) => walkOne(look, source));
  return merge(parts, { order, limit });
}

interface Part {
  readonly seqs: readonly number[];
  /** Nothing is known beyond this one; null if there is nothing beyond. */
  readonly end: number | null;
}

function walkOne(look: Look, source: Source): Part {
  const { db, page, after } = look;
  const conditions = conditionsFor(look, source);
  if (conditions === null) return { seqs: [], end: null };
  const isDown = (page.order ?? "newest") === "newest";
  const past: Condition[] =
    after === null ? [] : [{ sql: `s.seq ${isDown ? "<" : ">"} ?`, values: [after] }];
  const range = [source, ...past];
  const rest = [...source.also, ...conditions];
  const joins = joinsFor(rest);
  const ordered = `ORDER BY s.seq ${isDown ? "DESC" : "ASC"}`;
  const atMost = joins === "" ? source.walkAtMost : source.readAtMost;
  const end =
    rest.length === 0 || source.cutAt !== null
      ? source.cutAt
      : ((db.value(
          `SELECT s.seq FROM ${source.table} ${whereOf(range)} ${ordered}
           LIMIT 1 OFFSET ${atMost - 1}`,
          ...valuesOf(range),
        ) as number | undefined) ?? null);
  const window = end === null ? [] : [{ sql: `s.seq ${isDown ? ">=" : "<="} ?`, values: [end] }];
  const all = [...range, ...window, ...rest];
  const rows = db
    .rows<[number]>(
      `SELECT s.seq FROM ${source.table} ${joins} ${whereOf(all)} ${ordered} LIMIT ? + 0`,
    )
    .all(...valuesOf(all), page.limit + 1);
  return { seqs: rows.map(([seq]) => seq), end };
}

/** One page from the pages of several sources: only as far as all of them have looked. */
function merge(
  parts: readonly Part[],
  { order, limit }: { readonly order: "newest" | "oldest"; readonly limit: number },
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

function statusesOf(filter: JobFilter): JobStatus[] {
  const { status = JOB_STATUSES, delayed, retrying, finishedFrom, finishedTo } = filter;
  const areQueued = delayed !== undefined || retrying !== undefined;
  const areFinished = finishedFrom !== undefined || finishedTo !== undefined;
  const isPossible = (one: JobStatus): boolean =>
    (!areQueued || one === "queued") && (!areFinished || isFinished(one));
  return [...new Set(status)].filter(isPossible);
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
