/** What leaves the store: a job as the seam shows it, from the document that keeps it. */
import type { JobSummary, StoredJob } from "../../core/job.ts";
import type { JobRef, LeasedJob } from "../../core/store.ts";
import type { Database } from "./database.ts";
import { lookUp } from "./look-up.ts";
import { isRemembered } from "./moves.ts";
import { handleOf } from "./packs/packs.ts";
import { isTombstone, type JobDocument } from "./schema.ts";

/** What `find` shows nothing of. */
export const LONG_PARTS = { checkpoint: 0, steps: 0, logs: 0, history: 0, followUps: 0 };

export function summaryOf(job: JobDocument): JobSummary {
  return {
    id: job._id,
    queue: job.queue,
    group: job.group,
    type: job.type,
    status: job.status,
    priority: job.priority,
    payload: job.payload,
    result: job.result ?? null,
    resultDropped: job.resultDropped ?? false,
    attempts: job.attempts,
    maxAttempts: job.maxAttempts,
    crashes: job.crashes,
    deferrals: job.deferrals,
    fence: job.fence,
    error: job.error ?? null,
    reason: job.reason ?? null,
    by: job.by ?? null,
    progress: job.progress ?? null,
    tags: job.tags ?? [],
    meta: job.meta ?? null,
    trace: job.trace ?? null,
    dedupeKey: job.dedupe?.key ?? null,
    cancelAsked: job.cancelWhy != null,
    createdAt: job.createdAt,
    updatedAt: job.updatedAt,
    runAt: job.runAt,
    startedAt: job.startedAt ?? null,
    finishedAt: job.finishedAt ?? null,
    worker: job.worker ?? null,
    leasedAt: job.status === "processing" ? (job.startedAt ?? null) : null,
    leaseUntil: job.leaseUntil ?? null,
  };
}

function storedOf(job: JobDocument): StoredJob {
  const { checkpoint, steps, logs, history } = job;
  return {
    ...summaryOf(job),
    keyLifetime: job.dedupe?.lifetime ?? null,
    checkpoint: checkpoint ?? null,
    steps: steps ?? [],
    logs: logs ?? [],
    history: history ?? [],
  };
}

/** The handle of a job of which everything is known that its success will change. */
export const PLAIN = "plain";

/** Leased for the first time, never changed before, and it has no key that its end would free. */
function isPlain({ fresh, dedupe }: JobDocument): boolean {
  return fresh === true && dedupe?.lifetime !== "until-finished";
}

function handleFor(job: JobDocument): string {
  if (job.packed !== undefined) return handleOf(job.packed, job._id);
  return isPlain(job) ? PLAIN : "";
}

/** `job` is as the lease has made it; whether it was fresh, as it was before. */
export function leasedOf(job: JobDocument): LeasedJob {
  return {
    id: job._id,
    queue: job.queue,
    handle: handleFor(job),
    fence: job.fence,
    group: job.group,
    type: job.type,
    payload: job.payload,
    priority: job.priority,
    attempt: job.attempts,
    maxAttempts: job.maxAttempts,
    exhausted: job.exhausted === true,
    crashes: job.crashes,
    deferrals: job.deferrals,
    checkpoint: job.checkpoint ?? null,
    steps: job.steps ?? [],
    tags: job.tags ?? [],
    meta: job.meta ?? null,
    trace: job.trace ?? null,
    createdAt: job.createdAt,
    runAt: job.runAt,
  };
}

export async function get(
  db: Database,
  refs: readonly JobRef[],
): Promise<(StoredJob | "pruned" | null)[]> {
  const ids = refs.map(({ id }) => id);
  const [{ jobs }, now] = await Promise.all([lookUp(db, ids, { followUps: 0 }), db.now()]);
  return ids.map((id) => {
    const job = jobs.get(id);
    if (job === undefined) return null;
    if (!isTombstone(job)) return storedOf(job);
    return isRemembered(job, now) ? "pruned" : null;
  });
}
