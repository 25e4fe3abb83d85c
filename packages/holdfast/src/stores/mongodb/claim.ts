/**
 * Taking jobs. Fresh ones go into packs (`claim-fresh.ts`). Of those that have documents of their own, one
 * write changes every one which is still ready and as it was read, and marks it with a token of this call.
 * Whoever comes second finds them ready no more, and learns by the tokens which ones he got. Jobs that
 * have a past are changed inside the server and read afterwards. The token is not `v`: who asks a job to
 * cancel before it was read changes that.
 */
import { randomUUID } from "node:crypto";
import { claimFresh, type Refused } from "./packs/claim-fresh.ts";
import { instantAfter } from "./clock.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { edit } from "./edit.ts";
import { freshJobs, MOST_FRESH_CHARACTERS } from "./packs/fresh.ts";
import type { Place } from "./line-walk.ts";
import { attemptsBefore, putBack } from "./moves.ts";
import { isTombstone, type AnyJob, type FreshPack, type JobDocument } from "./schema.ts";
import { inOrder, LINE_ORDER } from "./placement.ts";
import type { ReadyLine } from "./ready-lines.ts";
import { Told } from "./told.ts";
import { wholeJob } from "./whole-job.ts";

/** Of so many, some more or less do not matter. */
export const MANY_JOBS = 100;

export interface Claim {
  readonly queue: string;
  readonly worker: string;
  readonly leaseMs: number;
  readonly now: number;
  readonly refused: Refused;
  /** Nobody was quicker for a while. */
  readonly isAlone: boolean;
  /** Hears of fresh jobs that are among the others now. */
  readonly onTaken: (jobs: readonly JobDocument[]) => void;
}

export interface Quota {
  readonly line: ReadyLine;
  readonly jobs: number;
}

/** What a leased job needs not carry. */
const UNSEEN = { result: 0, logs: 0, history: 0, followUps: 0 };

export interface Claimed {
  /** In the order of the candidates; those that somebody else took are not among them. */
  readonly jobs: readonly JobDocument[];
  /** Why nobody knows whether others of them are ours as well; null: these are all. */
  readonly failure: { readonly error: unknown } | null;
}

export async function claim(
  db: Database,
  found: readonly JobDocument[],
  { queue, worker, leaseMs, now, refused, isAlone, onTaken }: Claim,
): Promise<Claimed> {
  const token = randomUUID();
  const started = {
    v: token,
    lease: token,
    status: "processing" as const,
    startedAt: now,
    leaseUntil: instantAfter(now, leaseMs),
  };
  // Of a job that nobody has changed everything is known beforehand: a plain update costs the server half
  // of what one costs that it must compute, and what was read need not be read again.
  const first = { ...started, attempts: 1, fence: now * 1_000, worker, leased: queue };
  const waiting = found.filter(({ waits }) => waits !== undefined);
  const alone = found.filter(({ waits }) => waits === undefined);
  const unchanged = alone.filter(isKnown);
  const others = alone.filter((job) => !isKnown(job)).map(({ _id }) => _id);
  const own: JobDocument[] = [];
  const steps = await Promise.allSettled([
    claimFresh(db, waiting, { lease: first, now, refused, isAlone, onTaken, own }),
    claimUnchanged(db, unchanged, { lease: first, queue, token, own }),
    claimAgain(db, others, {
      queue,
      token,
      update: again({ ...started, updatedAt: now }, { worker, now }),
      own,
    }),
  ]);
  const failed = steps.find((step) => step.status === "rejected");
  const byId = new Map(own.map((job) => [job._id, job]));
  // One may be among them twice: ready again, and not yet cleared from where it was fresh.
  const ids = new Set(found.map(({ _id }) => _id));
  return {
    jobs: [...ids].flatMap((id) => byId.get(id) ?? []),
    failure: failed === undefined ? null : { error: failed.reason },
  };
}

/** Nobody has changed it, and all of it was read. */
function isKnown({ fresh, unread }: JobDocument): boolean {
  return fresh === true && unread === undefined;
}

interface Marking {
  readonly queue: string;
  readonly token: string;
  /** Gets those that are ours. */
  readonly own: JobDocument[];
}

async function claimUnchanged(
  db: Database,
  jobs: readonly JobDocument[],
  { lease, queue, token, own }: Marking & { readonly lease: Partial<JobDocument> },
): Promise<void> {
  const ids = jobs.map(({ _id }) => _id);
  const filter = { ready: queue, fresh: true };
  const update = { $set: lease, $unset: { ready: "", fresh: "" } };
  const taken = await db.updateInParts("jobs", [{ ids, filter, update }]);
  if (taken === 0) return;
  const got = taken === ids.length ? null : await marked(db, ids, token);
  for (const job of jobs) {
    if (got === null || got.has(job._id)) own.push(wholeJob({ ...job, ...lease }));
  }
}

async function claimAgain(
  db: Database,
  ids: readonly string[],
  { queue, token, update, own }: Marking & { readonly update: Document[] },
): Promise<void> {
  if (ids.length === 0) return;
  await db.updateMany("jobs", { _id: { $in: ids }, ready: queue }, update);
  const mine = { _id: { $in: ids }, lease: token };
  for (const job of await db.find<JobDocument>("jobs", mine, { projection: UNSEEN })) {
    own.push(wholeJob(job));
  }
}

/** Others got ahead: which of them are ours? */
async function marked(
  db: Database,
  ids: readonly string[],
  token: string,
): Promise<ReadonlySet<string>> {
  const mine = { _id: { $in: ids }, lease: token };
  const found = await db.find<{ _id: string }>("jobs", mine, { projection: { _id: 1 } });
  return new Set(found.map(({ _id }) => _id));
}

/** What a later attempt makes of a job: the server knows what was before. */
function again(
  started: Document,
  { worker, now }: { readonly worker: string; readonly now: number },
): Document[] {
  const [attempts, fence] = [{ $ifNull: ["$attempts", 0] }, { $ifNull: ["$fence", 0] }];
  const hasLeft = { $lt: [attempts, "$maxAttempts"] };
  const computed = {
    exhausted: { $cond: [hasLeft, "$$REMOVE", true] },
    unstarted: { $cond: [{ $gt: ["$crashes", 0] }, true, "$$REMOVE"] },
    attempts: { $add: [attempts, { $cond: [hasLeft, 1, 0] }] },
    fence: { $max: [{ $add: [fence, 1] }, now * 1_000] },
    worker: { $literal: worker },
    leased: "$ready",
  };
  return [
    { $set: { ...started, ...computed } },
    { $unset: ["ready", "again", "fresh", "updatesOrder"] },
  ];
}

/**
 * Back, as if they had not been taken: nobody has heard of it. Only the fence stays. Whoever was asked
 * to cancel meanwhile has no worker to hear it, and ends here.
 */
export async function unclaim(db: Database, jobs: readonly JobDocument[]): Promise<void> {
  const edits = jobs.map((taken) => ({
    id: taken._id,
    think(job: AnyJob | null, now: number) {
      if (job === null || isTombstone(job) || !isSameLease(job, taken)) return { answer: null };
      const back = putBack(job, { now, told: new Told() });
      return { answer: null, changes: { ...back, attempts: attemptsBefore(job) } };
    },
  }));
  await edit(db, edits, { payload: 0 });
}

function isSameLease(job: JobDocument, taken: JobDocument): boolean {
  return job.lease === taken.lease && job.leased != null;
}

/** How many documents are read for a quota. */
export interface Reach {
  /** How many jobs a document stands for, on average. */
  readonly perDocument: number;
  /** Of payload, in all. Default: no bound. */
  readonly bytes?: number;
  /** Documents of an only line's beginning that are left to others. Default: none. */
  readonly leaves?: number;
}

/** The first jobs of each line, line by line: not always as many as its quota. */
export async function candidates(
  db: Database,
  queue: string,
  { quotas, reach }: { readonly quotas: readonly Quota[]; readonly reach: Reach },
): Promise<readonly { readonly line: ReadyLine; readonly items: readonly JobDocument[] }[]> {
  const isHeadsOnly = quotas.every(({ jobs }) => jobs === 1);
  const found = isHeadsOnly
    ? await findHeads(db, queue, { quotas, reach })
    : await findFirst(db, queue, { quotas, reach });
  const byGroup = Map.groupBy(found, ({ group }) => group);
  return quotas.map(({ line, jobs }) => {
    return { line, items: upTo(jobs, inOrder(byGroup.get(line.group) ?? [])) };
  });
}

/**
 * The first of them, in whole documents if they are many: a document that is left in part is an update
 * instead of a delete for whoever leaves it, and out of step with the packs of all that come later.
 */
export function upTo(most: number, jobs: readonly JobDocument[]): readonly JobDocument[] {
  const next = jobs[most];
  if (next === undefined) return jobs;
  const pack = next.waits?.pack;
  const whole = jobs.findIndex(({ waits }) => waits?.pack === pack);
  const isWorthIt = pack !== undefined && most >= MANY_JOBS && whole >= most / 2;
  return jobs.slice(0, isWorthIt ? whole : most);
}

/** Of the lines that begin with a fresh job it was read when they were found. */
async function findHeads(
  db: Database,
  queue: string,
  { quotas, reach }: { readonly quotas: readonly Quota[]; readonly reach: Reach },
): Promise<JobDocument[]> {
  const heads = quotas.map(({ line }) => line.head);
  const known = heads.flatMap((head) => ("pack" in head ? freshJobs(head) : []));
  const unread = heads.filter((head) => !("pack" in head)).map(({ _id }) => _id);
  if (unread.length === 0) return known;
  const filter = { _id: { $in: unread }, ready: queue };
  const shortened = shorten(longestOf(unread.length, reach.bytes));
  const stages = [{ $match: filter }, ...shortened, { $project: UNSEEN }];
  return [...known, ...(await db.aggregate<JobDocument>("jobs", stages))];
}

/** Only those collections are asked in which a line has any. */
async function findFirst(
  db: Database,
  queue: string,
  { quotas, reach }: { readonly quotas: readonly Quota[]; readonly reach: Reach },
): Promise<JobDocument[]> {
  const { bytes, perDocument } = reach;
  const leaves = quotas.length === 1 ? (reach.leaves ?? 0) : 0;
  const parts = quotas.flatMap(({ line: { group, places }, jobs }) => {
    const documents = documentsFor(jobs, perDocument);
    return places.map((place) => ({ place, group, documents }));
  });
  const total = parts.reduce((sum, { documents }) => sum + documents, 0);
  const longest = longestOf(total, bytes);
  const looks = parts.map(({ place, group, documents }) => ({
    name: place,
    pipeline: stagesOf(queue, { place, group, documents, leaves, longest }),
  }));
  const [first, ...rest] = looks;
  if (first === undefined) return [];
  const unions = rest.map(({ name, pipeline }) => db.unionWith(name, pipeline));
  return readJobs(await db.aggregate<Waiting>(first.name, [...first.pipeline, ...unions]));
}

/** One more than should do, unless none could be needed: packs differ. */
export function documentsFor(jobs: number, perDocument: number): number {
  return Math.min(jobs, Math.ceil(jobs / perDocument) + 1);
}

/** What stands in a line. */
export type Waiting = JobDocument | FreshPack;

/** The jobs in what was read of both collections. */
export function readJobs(documents: readonly Waiting[]): JobDocument[] {
  return documents.flatMap((one) => ("pack" in one ? freshJobs(one) : [one]));
}

/** The first documents of a line. */
export interface Stretch {
  readonly group: string;
  readonly documents: number;
  /** So many before them are left to others. */
  readonly leaves: number;
  /** A payload of more bytes is not read. */
  readonly longest: number;
}

/** So that of so many documents no more than this is read, or hardly more. */
export function longestOf(documents: number, bytes = Infinity): number {
  return Math.max(MOST_FRESH_CHARACTERS, Math.floor(bytes / Math.max(1, documents)));
}

/** Without payloads of more bytes. Whoever claims such a job reads it then. */
function shorten(longest: number): Document[] {
  if (longest === Infinity) return [];
  const bytes = { $strLenBytes: "$payload" };
  const isLong = { $gt: [bytes, longest] };
  const unread = { $cond: [isLong, bytes, "$$REMOVE"] };
  return [{ $set: { unread, payload: { $cond: [isLong, "$$REMOVE", "$payload"] } } }];
}

/** The documents of a line in their order. */
export function stagesOf(
  queue: string,
  { place, group, documents, leaves, longest }: Stretch & { readonly place: Place },
): Document[] {
  return [
    { $match: { ready: queue, group } },
    { $sort: LINE_ORDER },
    ...(leaves > 0 ? [{ $skip: leaves }] : []),
    { $limit: documents },
    // What is fresh is short.
    ...(place === "jobs" ? shorten(longest) : []),
    { $project: UNSEEN },
  ];
}
