/**
 * Looking. Pages go by the order of insertion, and every call does a bounded amount of work: what an
 * index does not decide is looked for in a window of so many jobs, and a page may end short, with a
 * cursor, at the end of its window.
 */
import { InvalidCursorError } from "../../core/errors.ts";
import { JOB_STATUSES } from "../../core/job.ts";
import type { JobFilter, JobPage, PageRequest } from "../../core/store.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { walkPacks, type PackSource } from "./packs/find-packs.ts";
import { countReady } from "./packs/fresh.ts";
import { LONG_PARTS, summaryOf } from "./job-view.ts";
import { lookUp } from "./look-up.ts";
import { isTombstone, type JobDocument } from "./schema.ts";

const LOOK_AT_MOST = 2_000;

export async function find(db: Database, filter: JobFilter, page: PageRequest): Promise<JobPage> {
  const { ids, nextCursor } = await pageOfIds(db, filter, { page });
  if (ids.length === 0) return { jobs: [], nextCursor };
  const [found, now] = await Promise.all([lookUp(db, ids, LONG_PARTS), db.now()]);
  // What has changed between the two looks and fits no more is left out.
  const jobs = ids.flatMap((id) => {
    const job = found.jobs.get(id);
    return job === undefined || isTombstone(job) || !matches(job, filter, now) ? [] : [job];
  });
  return { jobs: jobs.map(summaryOf), nextCursor };
}

interface Look {
  readonly page: PageRequest;
  /** Jobs created or finished after this are left out. */
  readonly frozenAt?: number;
}

interface PageOfIds {
  readonly ids: readonly string[];
  readonly nextCursor: string | null;
}

/** The ids of the jobs of a page, in its order. */
export async function pageOfIds(
  db: Database,
  filter: JobFilter,
  { page, frozenAt }: Look,
): Promise<PageOfIds> {
  const { limit, cursor = null, order = "newest" } = page;
  const after = cursor === null ? null : seqOf(cursor, order);
  if (limit <= 0) return { ids: [], nextCursor: null };
  const [sources, now] = await Promise.all([sourcesOf(db, filter), db.now()]);
  const rest = restOf(filter, { now, frozenAt });
  const isMeant = (job: JobDocument): boolean =>
    matches(job, filter, now) && wasSo(job, frozenAt ?? Infinity);
  const walk = { order, after, limit, lookAtMost: LOOK_AT_MOST, rest, filter, isMeant };
  const { fresh, singles, packs } = sources;
  // First: a job leaves the fresh ones when it is among the others.
  const waiting = await Promise.all(fresh.map((source) => walkPacks(db, source, walk)));
  const others = await Promise.all([
    ...singles.map((source) => walkOne(db, source, walk)),
    ...packs.map((source) => walkPacks(db, source, walk)),
  ]);
  return merge([...waiting, ...others], walk);
}

/** Created and, if it has finished, finished by then. */
export function wasSo(job: JobDocument, frozenAt: number): boolean {
  return job.createdAt <= frozenAt && (job.finishedAt ?? frozenAt) <= frozenAt;
}

export interface Walk {
  readonly order: "newest" | "oldest";
  /** The cursor. */
  readonly after: number | null;
  readonly limit: number;
  /** How many documents are looked at. */
  readonly lookAtMost: number;
}

export interface Part {
  readonly found: readonly { readonly _id: string; readonly seq: number }[];
  /** Nothing is known beyond this one; undefined if there is nothing beyond. */
  readonly end: number | undefined;
}

async function walkOne(
  db: Database,
  { filter, hint }: Source,
  { order, after, limit, lookAtMost, rest }: Walk & { readonly rest: readonly Document[] },
): Promise<Part> {
  const isDown = order === "newest";
  const sort = { seq: isDown ? -1 : 1 };
  const start = after === null ? { $gt: 0 } : isDown ? { $gt: 0, $lt: after } : { $gt: after };
  // Where the window ends is asked first, so that nothing can slip between the two looks.
  const range = { ...filter, seq: start };
  // Without further conditions there is nothing to look for in it.
  const look = { sort, hint, skip: lookAtMost - 1, limit: 1, projection: { _id: 0, seq: 1 } };
  const [last] = rest.length === 0 ? [] : await db.find<{ seq: number }>("jobs", range, look);
  const end = last === undefined ? {} : { [isDown ? "$gte" : "$lte"]: last.seq };
  const wanted = { $and: [{ ...filter, seq: { ...start, ...end } }, ...rest] };
  const sorting = { sort, hint, allowDiskUse: true } as const;
  const show = { ...sorting, limit: limit + 1, projection: { seq: 1 } };
  const found = await db.find<{ _id: string; seq: number }>("jobs", wanted, show);
  return { found, end: found.length > limit ? found.at(-1)?.seq : last?.seq };
}

/** One page from the pages of several sources: only as far as all of them have looked. */
function merge(parts: readonly Part[], { order, limit }: Walk): PageOfIds {
  const isBefore = (a: number, b: number): boolean => (order === "newest" ? a > b : a < b);
  const ends = parts.flatMap((part) => part.end ?? []);
  const end = ends.length === 0 ? null : ends.reduce((a, b) => (isBefore(a, b) ? a : b));
  const known = parts
    .flatMap(({ found }) => found)
    .filter(({ seq }) => end === null || seq === end || isBefore(seq, end))
    .sort((a, b) => (isBefore(a.seq, b.seq) ? -1 : 1));
  const all = known.filter(({ seq }, index) => seq !== known[index - 1]?.seq);
  const shown = all.slice(0, limit);
  const next = all.length > limit ? (shown.at(-1)?.seq ?? null) : end;
  const ids = shown.map(({ _id }) => _id);
  return { ids, nextCursor: next === null ? null : cursorOf(next, order) };
}

/** Some documents of jobs that an index knows by a field of its own. */
interface Source {
  readonly filter: Document;
  readonly hint: string;
}

interface Sources {
  readonly fresh: readonly PackSource[];
  readonly singles: readonly Source[];
  readonly packs: readonly PackSource[];
}

/**
 * Where jobs of these statuses stand: running jobs are few, dead and cancelled ones have an index, and
 * a few waiting ones are taken from where they wait. Only what is left walks all jobs.
 */
async function sourcesOf(db: Database, filter: JobFilter): Promise<Sources> {
  const { status = JOB_STATUSES, delayed, queue, type } = filter;
  const wanted = JOB_STATUSES.filter((one) => status.includes(one));
  const statuses = delayed === undefined ? wanted : wanted.filter((one) => one === "queued");
  const name = queue ?? { $gte: "" };
  const fresh: PackSource[] = [];
  const singles: Source[] = [];
  const packs: PackSource[] = [];
  for (const one of statuses) {
    if (one === "succeeded") return everything(type);
    if (one === "processing") {
      singles.push({ filter: { leased: name }, hint: "leased" });
      packs.push({ place: "jobs", packs: { leased: name }, by: anyhow("leased") });
    } else if (one !== "queued") {
      singles.push({ filter: { halted: one }, hint: "halted" });
    } else {
      const [ready, due] = await Promise.all([
        countReady(db, { ready: name }, LOOK_AT_MOST),
        db.count("jobs", { due: name }, LOOK_AT_MOST),
      ]);
      if (ready + due >= LOOK_AT_MOST) return everything(type);
      fresh.push({ place: "fresh", packs: { ready: name }, by: anyhow("ready") });
      singles.push({ filter: { ready: name }, hint: "ready" });
      singles.push({ filter: { due: name }, hint: "due" });
    }
  }
  return { fresh, singles, packs };
}

/** They are few, and sorted by whoever asks. */
function anyhow(hint: string): PackSource["by"] {
  return { oldest: { begin: "first", hint }, newest: { begin: "last", hint } };
}

function everything(type: string | undefined): Sources {
  const isAny = type === undefined;
  const [first, last] = isAny ? ["first", "last"] : ["typeFirst", "typeLast"];
  const by = {
    oldest: { begin: "first", hint: first },
    newest: { begin: "last", hint: last },
  } as const;
  // Fresh ones do not reach over each other.
  const inRow = { begin: "_id", hint: "_id_" } as const;
  return {
    fresh: [{ place: "fresh", packs: {}, by: { oldest: inRow, newest: inRow } }],
    singles: [isAny ? { filter: {}, hint: "order" } : { filter: { type }, hint: "type" }],
    packs: [{ place: "jobs", packs: isAny ? {} : { type }, by }],
  };
}

function restOf(
  filter: JobFilter,
  { now, frozenAt }: { readonly now: number; readonly frozenAt: number | undefined },
): Document[] {
  const { status, delayed, queue, group, type, tag, category, from, to } = filter;
  const conditions: Document[] = [];
  if (status !== undefined) conditions.push({ status: { $in: status } });
  if (delayed !== undefined) {
    conditions.push({ status: "queued", runAt: delayed ? { $gt: now } : { $not: { $gt: now } } });
  }
  if (queue !== undefined) conditions.push({ queue });
  if (group !== undefined) conditions.push({ group });
  if (type !== undefined) conditions.push({ type });
  if (tag !== undefined) conditions.push({ tags: tag });
  if (category !== undefined) conditions.push({ "error.category": category });
  if (from !== undefined) conditions.push({ createdAt: { $gte: from } });
  if (to !== undefined) conditions.push({ createdAt: { $lt: to } });
  if (frozenAt !== undefined) {
    conditions.push({ createdAt: { $lte: frozenAt }, finishedAt: { $not: { $gt: frozenAt } } });
  }
  return conditions;
}

/** The same conditions, of a job that has been read. */
export function matches(job: JobDocument, filter: JobFilter, now: number): boolean {
  const { status, delayed, queue, group, type, tag, category, from, to } = filter;
  return (
    (status === undefined || status.includes(job.status)) &&
    (delayed === undefined || (job.status === "queued" && job.runAt > now === delayed)) &&
    (queue === undefined || job.queue === queue) &&
    (group === undefined || job.group === group) &&
    (type === undefined || job.type === type) &&
    (tag === undefined || (job.tags ?? []).includes(tag)) &&
    (category === undefined || job.error?.category === category) &&
    (from === undefined || job.createdAt >= from) &&
    (to === undefined || job.createdAt < to)
  );
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
