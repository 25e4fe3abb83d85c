/**
 * Taking jobs. Fresh ones go into packs (`claim-fresh.ts`). Of those that have documents of their own, one
 * write changes every one which is still ready and as it was read, and marks it with a token of this call.
 * Whoever comes second finds them ready no more, and learns by the tokens which ones he got. Jobs that
 * have a past are changed inside the server and read afterwards. The token is not `v`: who asks a job to
 * cancel before it was read changes that.
 */
import { randomUUID } from "node:crypto";
import { claimFresh } from "./claim-fresh.ts";
import { instantAfter } from "./clock.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { edit } from "./edit.ts";
import { freshJobs } from "./fresh.ts";
import type { Span } from "./fronts.ts";
import type { ReadyLine } from "./line-walk.ts";
import { attemptsBefore, putBack } from "./moves.ts";
import { isTombstone, type AnyJob, type FreshPack, type JobDocument } from "./schema.ts";
import { inOrder, LINE_ORDER } from "./standing.ts";
import { Told } from "./told.ts";
import { wholeJob } from "./whole-job.ts";

/** Of so many, some more or less do not matter. */
export const MANY_JOBS = 100;

export interface Claim {
  readonly queue: string;
  readonly worker: string;
  readonly leaseMs: number;
  readonly now: number;
  /** Others have got ahead of us lately. */
  readonly isCrowded: boolean;
  /** Hears of fresh jobs that are among the others now. */
  readonly onTaken: (jobs: readonly JobDocument[]) => void;
}

export interface Quota {
  readonly line: ReadyLine;
  readonly jobs: number;
}

/** What a leased job needs not carry. */
const UNSEEN = { result: 0, logs: 0, history: 0, owed: 0 };

/** In the order of the candidates; those that somebody else took are not among them. */
export async function claim(
  db: Database,
  found: readonly JobDocument[],
  { queue, worker, leaseMs, now, isCrowded, onTaken }: Claim,
): Promise<JobDocument[]> {
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
  const unchanged = found.filter(({ waits, fresh }) => waits === undefined && fresh === true);
  const others = found.filter(({ fresh }) => fresh !== true).map(({ _id }) => _id);
  const claimed = await Promise.all([
    claimFresh(db, waiting, { lease: first, now, isCrowded, onTaken }),
    claimUnchanged(db, unchanged, { lease: first, queue, token }),
    claimAgain(db, others, {
      queue,
      token,
      update: again({ ...started, updatedAt: now }, { worker, now }),
    }),
  ]);
  const byId = new Map(claimed.flat().map((job) => [job._id, job]));
  // One may be among them twice: ready again, and not yet cleared from where it was fresh.
  const ids = new Set(found.map(({ _id }) => _id));
  return [...ids].flatMap((id) => byId.get(id) ?? []);
}

async function claimUnchanged(
  db: Database,
  jobs: readonly JobDocument[],
  { lease, queue, token }: { lease: Partial<JobDocument>; queue: string; token: string },
): Promise<JobDocument[]> {
  const ids = jobs.map(({ _id }) => _id);
  const filter = { ready: queue, fresh: true };
  const update = { $set: lease, $unset: { ready: "", fresh: "" } };
  const taken = await db.updateInParts("jobs", [{ ids, filter, update }]);
  if (taken === 0) return [];
  const got = taken === ids.length ? null : await marked(db, ids, token);
  const own = jobs.filter(({ _id }) => got === null || got.has(_id));
  return own.map((job) => wholeJob({ ...job, ...lease }));
}

async function claimAgain(
  db: Database,
  ids: readonly string[],
  { queue, token, update }: { queue: string; token: string; update: Document[] },
): Promise<JobDocument[]> {
  if (ids.length === 0) return [];
  await db.updateMany("jobs", { _id: { $in: ids }, ready: queue }, update);
  const mine = { _id: { $in: ids }, lease: token };
  const jobs = await db.find<JobDocument>("jobs", mine, { projection: UNSEEN });
  return jobs.map(wholeJob);
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
  return [{ $set: { ...started, ...computed } }, { $unset: ["ready", "fresh", "updatesOrder"] }];
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

/** How many documents are read for a quota, and how many are passed by. */
export interface Reach {
  /** How many jobs a document stands for, on average. */
  readonly perDocument: number;
  /** Lets callers who are in each other's way part. */
  readonly skip: number;
}

/** The first jobs of each line, line by line: not always as many as its quota. */
export async function candidates(
  db: Database,
  queue: string,
  { quotas, reach }: { readonly quotas: readonly Quota[]; readonly reach: Reach },
): Promise<readonly { readonly line: ReadyLine; readonly items: readonly JobDocument[] }[]> {
  const isHeadsOnly = reach.skip === 0 && quotas.every(({ jobs }) => jobs === 1);
  const found = isHeadsOnly
    ? await findHeads(db, queue, quotas)
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
  quotas: readonly Quota[],
): Promise<JobDocument[]> {
  const heads = quotas.map(({ line }) => line.head);
  const known = heads.flatMap((head) => ("pack" in head ? freshJobs(head) : []));
  const unread = heads.filter((head) => !("pack" in head)).map(({ _id }) => _id);
  if (unread.length === 0) return known;
  const filter = { _id: { $in: unread }, ready: queue };
  return [...known, ...(await db.find<JobDocument>("jobs", filter, { projection: UNSEEN }))];
}

/** Only those collections are asked in which a line has any. */
async function findFirst(
  db: Database,
  queue: string,
  { quotas, reach }: { readonly quotas: readonly Quota[]; readonly reach: Reach },
): Promise<JobDocument[]> {
  const { skip } = reach;
  const looks = quotas.flatMap(({ line: { group, places }, jobs }) => {
    const documents = documentsFor(jobs, reach);
    return places.map((name) => ({ name, pipeline: stagesOf(queue, { group, documents, skip }) }));
  });
  const [first, ...rest] = looks;
  if (first === undefined) return [];
  const unions = rest.map(({ name, pipeline }) => db.unionWith(name, pipeline));
  return readJobs(await db.aggregate<Waiting>(first.name, [...first.pipeline, ...unions]));
}

/** One more than should do, unless none could be needed: packs differ. */
export function documentsFor(jobs: number, { perDocument }: Pick<Reach, "perDocument">): number {
  return Math.min(jobs, Math.ceil(jobs / perDocument) + 1);
}

/** What stands in a line. */
export type Waiting = JobDocument | FreshPack;

/** The jobs in what was read of both collections. */
export function readJobs(documents: readonly Waiting[]): JobDocument[] {
  return documents.flatMap((one) => ("pack" in one ? freshJobs(one) : [one]));
}

/** Which documents of a line. */
export interface Stretch {
  readonly group: string;
  readonly skip: number;
  readonly documents: number;
  /** Absent: the first ones. */
  readonly span?: Span;
}

/** The documents of a line in their order. */
export function stagesOf(queue: string, { group, skip, documents, span }: Stretch): Document[] {
  const range =
    span === undefined ? {} : { priority: span.priority, seq: { $gt: span.after, $lte: span.to } };
  return [
    { $match: { ready: queue, group, ...range } },
    { $sort: LINE_ORDER },
    ...(skip === 0 ? [] : [{ $skip: skip }]),
    { $limit: documents },
    { $project: UNSEEN },
  ];
}
