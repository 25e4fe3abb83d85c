/**
 * Taking jobs: they are read, then one write changes every one of them which is still ready and as it
 * was read, and marks it with a token of this call. Whoever comes second finds them ready no more, and
 * learns by the tokens which ones he got. Jobs that have a past are changed inside the server and read
 * afterwards. The token is not `v`: who asks a job to cancel before it was read changes that.
 */
import { randomUUID } from "node:crypto";
import { instantAfter } from "./clock.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { edit } from "./edit.ts";
import type { ReadyLine } from "./line-walk.ts";
import { endCancelled, requeue } from "./moves.ts";
import { isTombstone, type AnyJob, type JobDocument } from "./schema.ts";
import { Told } from "./told.ts";
import { wholeJob } from "./whole-job.ts";

export interface Claim {
  readonly queue: string;
  readonly worker: string;
  readonly leaseMs: number;
  readonly now: number;
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
  { queue, worker, leaseMs, now }: Claim,
): Promise<JobDocument[]> {
  const token = randomUUID();
  const started = {
    v: token,
    lease: token,
    status: "processing" as const,
    startedAt: now,
    leaseUntil: instantAfter(now, leaseMs),
  };
  // Nearly every job is fresh, and then everything is known beforehand: a plain update costs the
  // server half of what one costs that it must compute, and what was read need not be read again.
  const first = { ...started, attempts: 1, fence: now * 1_000, worker, leased: queue };
  const plain = { $set: first, $unset: { ready: "", fresh: "" } };
  const fresh = found.filter((job) => job.fresh === true);
  const ids = fresh.map(({ _id }) => _id);
  const filter = { ready: queue, fresh: true };
  const taken = await db.updateInParts("jobs", [{ ids, filter, update: plain }]);
  const got = taken === ids.length || taken === 0 ? null : await marked(db, ids, token);
  const own = taken === 0 ? [] : fresh.filter(({ _id }) => got === null || got.has(_id));
  const jobs = own.map((job) => wholeJob({ ...job, ...first }));
  if (fresh.length === found.length) return jobs;
  const others = found.filter((job) => job.fresh !== true).map(({ _id }) => _id);
  const isReady = { _id: { $in: others }, ready: queue };
  await db.updateMany("jobs", isReady, again({ ...started, updatedAt: now }, { worker, now }));
  const mine = { _id: { $in: others }, lease: token };
  const later = await db.find<JobDocument>("jobs", mine, { projection: UNSEEN });
  const byId = new Map([...jobs, ...later.map(wholeJob)].map((job) => [job._id, job]));
  return found.flatMap(({ _id }) => byId.get(_id) ?? []);
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
    attempts: { $add: [attempts, { $cond: [hasLeft, 1, 0] }] },
    fence: { $max: [{ $add: [fence, 1] }, now * 1_000] },
    worker: { $literal: worker },
    leased: "$ready",
  };
  return [{ $set: { ...started, ...computed } }, { $unset: ["ready", "fresh", "ridersOrder"] }];
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
      const attempts = job.attempts - (job.exhausted === true ? 0 : 1);
      const moment = { now, told: new Told() };
      const { cancelWhy } = job;
      const back =
        cancelWhy == null ? requeue(job, job.runAt, moment) : endCancelled(job, cancelWhy, moment);
      return { answer: null, changes: { ...back, attempts } };
    },
  }));
  await edit(db, edits, { payload: 0 });
}

function isSameLease(job: JobDocument, taken: JobDocument): boolean {
  return job.lease === taken.lease && job.leased != null;
}

/** The first jobs of each line, line by line. `skip` lets callers who are in each other's way part. */
export async function candidates(
  db: Database,
  queue: string,
  { quotas, skip }: { readonly quotas: readonly Quota[]; readonly skip: number },
): Promise<readonly { readonly line: ReadyLine; readonly items: readonly JobDocument[] }[]> {
  const found = await findFirst(db, queue, { quotas, skip });
  const [only] = quotas;
  if (only !== undefined && quotas.length === 1) return [{ line: only.line, items: found }];
  const byGroup = Map.groupBy(found, ({ group }) => group);
  return quotas.map(({ line }) => ({ line, items: byGroup.get(line.group) ?? [] }));
}

async function findFirst(
  db: Database,
  queue: string,
  { quotas, skip }: { readonly quotas: readonly Quota[]; readonly skip: number },
): Promise<JobDocument[]> {
  const isHeadsOnly = skip === 0 && quotas.every(({ jobs }) => jobs === 1);
  if (isHeadsOnly) {
    const heads = { _id: { $in: quotas.map(({ line }) => line.head) }, ready: queue };
    return db.find<JobDocument>("jobs", heads, { projection: UNSEEN });
  }
  const [first, ...rest] = quotas.map(({ line, jobs }) =>
    stagesOf(queue, { group: line.group, jobs, skip }),
  );
  const unions = rest.map((pipeline) => ({
    $unionWith: { coll: `${db.options.prefix}jobs`, pipeline },
  }));
  return db.aggregate<JobDocument>("jobs", [...(first ?? []), ...unions]);
}

/** The jobs of a line in their order. */
export function stagesOf(
  queue: string,
  { group, jobs, skip }: { readonly group: string; readonly jobs: number; readonly skip: number },
): Document[] {
  return [
    { $match: { ready: queue, group } },
    { $sort: { ready: 1, group: 1, priority: 1, seq: 1 } },
    ...(skip === 0 ? [] : [{ $skip: skip }]),
    { $limit: jobs },
    { $project: UNSEEN },
  ];
}
