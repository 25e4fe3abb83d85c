/**
 * Looking. Pages go by the order of insertion, and every call does a bounded amount of work: what an
 * index does not decide is looked for in a window of so many jobs, and a page may end short, with a
 * cursor, at the end of its window.
 */
import { InvalidCursorError } from "../../core/errors.ts";
import { JOB_STATUSES, type JobStatus } from "../../core/job.ts";
import type { JobFilter, JobPage, PageRequest } from "../../core/store.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { walkPacks, type PackSource } from "./packs/find-packs.ts";
import { PLACES } from "./line-walk.ts";
import { LONG_PARTS, summaryOf } from "./job-view.ts";
import { lookUp } from "./look-up.ts";
import { ANY, ENDED, isTombstone, type JobDocument } from "./schema.ts";

/** Documents looked through by one call where no index decides: some ten milliseconds of the server's. */
const LOOK_AT_MOST = 10_000;

export async function find(db: Database, filter: JobFilter, page: PageRequest): Promise<JobPage> {
  const { ids, nextCursor } = await pageOfIds(db, filter, { page });
  if (ids.length === 0) return { jobs: [], nextCursor };
  const isBare = page.without !== undefined;
  const unread = isBare ? { ...LONG_PARTS, payload: 0, result: 0 } : LONG_PARTS;
  const unreadOfPacks = isBare ? { "pack.payload": 0, results: 0 } : {};
  const [found, now] = await Promise.all([lookUp(db, ids, unread, unreadOfPacks), db.now()]);
  // What has changed between the two looks and fits no more is left out.
  const jobs = ids.flatMap((id) => {
    const job = found.jobs.get(id);
    return job === undefined || isTombstone(job) || !matches(job, filter, now) ? [] : [job];
  });
  const shown = jobs.map(summaryOf);
  const bare = shown.map((job) => ({ ...job, payload: "null", result: null }));
  return { jobs: isBare ? bare : shown, nextCursor };
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
  const [sources, now] = await Promise.all([sourcesOf(db, filter, order), db.now()]);
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
  { filter, hint, isKnown }: Source,
  { order, after, limit, lookAtMost, rest }: Walk & { readonly rest: readonly Document[] },
): Promise<Part> {
  const isDown = order === "newest";
  const sort = { seq: isDown ? -1 : 1 };
  const start = after === null ? { $gt: 0 } : isDown ? { $gt: 0, $lt: after } : { $gt: after };
  // Where the window ends is asked first, so that nothing can slip between the two looks.
  const range = { ...filter, seq: start };
  const look = { sort, hint, skip: lookAtMost - 1, limit: 1, projection: { _id: 0, seq: 1 } };
  const [last] = isKnown ? [] : await db.find<{ seq: number }>("jobs", range, look);
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
  /** The index decides, or they are few: a page is full without a window. */
  readonly isKnown: boolean;
}

interface Sources {
  readonly fresh: readonly PackSource[];
  readonly singles: readonly Source[];
  readonly packs: readonly PackSource[];
}

function statusesOf({ status = JOB_STATUSES, ...filter }: JobFilter): readonly JobStatus[] {
  const { delayed, retrying, finishedFrom, finishedTo } = filter;
  const isOfQueued = delayed !== undefined || retrying !== undefined;
  const isOfEnded = finishedFrom !== undefined || finishedTo !== undefined;
  return JOB_STATUSES.filter(
    (one) =>
      status.includes(one) &&
      (!isOfQueued || one === "queued") &&
      (!isOfEnded || (one !== "queued" && one !== "processing")),
  );
}

/**
 * Where jobs of these statuses stand: running jobs are few, dead and cancelled ones and those that are tried
 * again have an index, succeeded ones of a queue too, and a few waiting ones are taken from where they
 * wait. Only what is left walks all jobs, or all of its queue.
 */
async function sourcesOf(db: Database, filter: JobFilter, order: Walk["order"]): Promise<Sources> {
  const { queue, group, retrying, type, tag, category, fingerprint, worker } = filter;
  const statuses = statusesOf(filter);
  const name = queue ?? ANY;
  const line = group === undefined ? {} : { group };
  const fresh: PackSource[] = [];
  const singles: Source[] = [];
  const packs: PackSource[] = [];
  for (const one of statuses) {
    if (one === "processing") {
      singles.push({ filter: { leased: name }, hint: "leased", isKnown: true });
      packs.push({ place: "jobs", packs: { leased: name }, by: anyhow("leased") });
    } else if (one === "dead" || one === "cancelled") {
      singles.push({ filter: { halted: one }, hint: "halted", isKnown: true });
    } else if (one === "succeeded") {
      if (queue === undefined || statuses.length > 1 || order === "oldest")
        return everything(filter, statuses);
      const isKnown = [group, type, tag, category, fingerprint, worker].every(
        (word) => word === undefined,
      );
      singles.push({ filter: { queue, status: one, finishedAt: ENDED }, hint: "ended", isKnown });
      packs.push({ place: "jobs", packs: { queue }, by: QUEUE_PACKS });
    } else if (retrying === true) {
      singles.push({ filter: { again: name }, hint: "again", isKnown: true });
    } else {
      const ready = { ready: name, ...line };
      const [waiting, due] = await Promise.all([
        countDocuments(db, ready),
        db.count("jobs", { due: name }, FEW_WAITING),
      ]);
      if (waiting + due >= FEW_WAITING) return everything(filter, statuses);
      fresh.push({ place: "fresh", packs: ready, by: anyhow("ready") });
      singles.push({ filter: ready, hint: "ready", isKnown: true });
      singles.push({ filter: { due: name, ...line }, hint: "due", isKnown: true });
    }
  }
  return { fresh, singles, packs };
}

/** So many documents that wait are sorted by whoever asks. */
const FEW_WAITING = 20_000;

async function countDocuments(db: Database, ready: Document): Promise<number> {
  const counts = PLACES.map((place) => db.count(place, ready, FEW_WAITING));
  return (await Promise.all(counts)).reduce((sum, one) => sum + one, 0);
}

/** They are few, and sorted by whoever asks. */
function anyhow(hint: string): PackSource["by"] {
  return { oldest: { begin: "first", hint }, newest: { begin: "last", hint } };
}

const ALL_PACKS: PackSource["by"] = {
  oldest: { begin: "first", hint: "first" },
  newest: { begin: "last", hint: "last" },
};
const QUEUE_PACKS: PackSource["by"] = {
  oldest: { begin: "first", hint: "queueFirst" },
  newest: { begin: "last", hint: "queueLast" },
};
// Fresh ones do not reach over each other.
const IN_ROW: PackSource["by"] = {
  oldest: { begin: "_id", hint: "_id_" },
  newest: { begin: "_id", hint: "_id_" },
};

function everything(filter: JobFilter, statuses: readonly JobStatus[]): Sources {
  const { queue, ...others } = filter;
  const isAll = Object.values(others).every((condition) => condition === undefined);
  const packs = queue === undefined ? {} : { queue };
  return {
    fresh: statuses.includes("queued") ? [{ place: "fresh", packs: {}, by: IN_ROW }] : [],
    singles: [{ filter: packs, hint: queue === undefined ? "order" : "queue", isKnown: isAll }],
    packs: statuses.some((one) => one === "processing" || one === "succeeded")
      ? [{ place: "jobs", packs, by: queue === undefined ? ALL_PACKS : QUEUE_PACKS }]
      : [],
  };
}

function restOf(
  filter: JobFilter,
  { now, frozenAt }: { readonly now: number; readonly frozenAt: number | undefined },
): Document[] {
  const { status, delayed, queue, group, type, tag, category, from, to } = filter;
  const { fingerprint, worker, retrying, finishedFrom, finishedTo } = filter;
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
  if (fingerprint !== undefined) conditions.push({ "error.fingerprint": fingerprint });
  if (worker !== undefined) conditions.push({ worker });
  if (retrying !== undefined) {
    conditions.push({ status: "queued", attempts: retrying ? { $gt: 0 } : { $not: { $gt: 0 } } });
  }
  if (finishedFrom !== undefined) conditions.push({ finishedAt: { $gte: finishedFrom } });
  if (finishedTo !== undefined) conditions.push({ finishedAt: { $lt: finishedTo } });
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
  const { fingerprint, worker, retrying, finishedFrom, finishedTo } = filter;
  const isQueued = job.status === "queued";
  const finishedAt = job.finishedAt ?? null;
  return (
    (status === undefined || status.includes(job.status)) &&
    (delayed === undefined || (isQueued && job.runAt > now === delayed)) &&
    (retrying === undefined || (isQueued && job.attempts > 0 === retrying)) &&
    (fingerprint === undefined || job.error?.fingerprint === fingerprint) &&
    (worker === undefined || job.worker === worker) &&
    (finishedFrom === undefined || (finishedAt !== null && finishedAt >= finishedFrom)) &&
    (finishedTo === undefined || (finishedAt !== null && finishedAt < finishedTo)) &&
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
