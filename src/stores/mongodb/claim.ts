/**
 * Taking jobs: one write that changes every one of them which is still ready, and marks it with a token
 * of this call; then those with the token are read. Whoever comes second finds them ready no more.
 * The token is not `v`: who asks a job to cancel before it was read changes that.
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

/** In the order of the ids; those that somebody else took are not among them. */
export async function claim(
  db: Database,
  ids: readonly string[],
  { queue, worker, leaseMs, now }: Claim,
): Promise<JobDocument[]> {
  const token = randomUUID();
  const started = {
    v: token,
    lease: token,
    status: "processing",
    startedAt: now,
    leaseUntil: instantAfter(now, leaseMs),
    updatedAt: now,
  };
  const isReady = { _id: { $in: ids }, ready: queue };
  // Nearly every job is at its first attempt, and then everything is known beforehand: a plain update
  // costs the server half of what one costs that it must compute.
  const first = { attempts: 1, fence: now * 1_000, worker, leased: queue };
  const isFirst = { ...isReady, attempts: 0, fence: 0, maxAttempts: { $gt: 0 } };
  const plain = { $set: { ...started, ...first }, $unset: { ready: "", ridersOrder: "" } };
  const taken = await db.updateMany("jobs", isFirst, plain);
  if (taken < ids.length)
    await db.updateMany("jobs", isReady, again({ ...started }, { worker, now }));
  const mine = { _id: { $in: ids }, leased: queue, lease: token };
  const jobs = await db.find<JobDocument>("jobs", mine, { projection: UNSEEN });
  const byId = new Map(jobs.map((job) => [job._id, job]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** What a later attempt makes of a job: the server knows what was before. */
function again(
  started: Document,
  { worker, now }: { readonly worker: string; readonly now: number },
): Document[] {
  const hasLeft = { $lt: ["$attempts", "$maxAttempts"] };
  const computed = {
    exhausted: { $cond: [hasLeft, "$$REMOVE", true] },
    attempts: { $add: ["$attempts", { $cond: [hasLeft, 1, 0] }] },
    fence: { $max: [{ $add: ["$fence", 1] }, now * 1_000] },
    worker: { $literal: worker },
    leased: "$ready",
  };
  return [{ $set: { ...started, ...computed } }, { $unset: ["ready", "ridersOrder"] }];
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
): Promise<readonly { readonly line: ReadyLine; readonly items: readonly string[] }[]> {
  const isHeadsOnly = skip === 0 && quotas.every(({ jobs }) => jobs === 1);
  if (isHeadsOnly) return quotas.map(({ line }) => ({ line, items: [line.head] }));
  const [first, ...rest] = quotas.map((quota) => stagesOf(queue, quota, skip));
  const unions = rest.map((pipeline) => ({
    $unionWith: { coll: `${db.options.prefix}jobs`, pipeline },
  }));
  const found = await db.aggregate<{ _id: string; group: string }>("jobs", [
    ...(first ?? []),
    ...unions,
  ]);
  const byGroup = Map.groupBy(found, ({ group }) => group);
  return quotas.map(({ line }) => ({
    line,
    items: (byGroup.get(line.group) ?? []).map(({ _id }) => _id),
  }));
}

function stagesOf(queue: string, { line, jobs }: Quota, skip: number): Document[] {
  return [
    { $match: { ready: queue, group: line.group } },
    { $sort: { ready: 1, group: 1, priority: 1, seq: 1 } },
    ...(skip === 0 ? [] : [{ $skip: skip }]),
    { $limit: jobs },
    { $project: { group: 1 } },
  ];
}
