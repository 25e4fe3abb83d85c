/**
 * What leaves the store is a copy: a caller that changes what it was given changes nothing here.
 */
import type { JobSummary, StoredJob } from "../../core/job.ts";
import type { LeasedJob } from "../../core/store.ts";
import type { MemoryJob } from "./state.ts";

export function summarySnapshot(job: MemoryJob): JobSummary {
  return {
    id: job.id,
    queue: job.queue,
    group: job.group,
    type: job.type,
    status: job.status,
    priority: job.priority,
    payload: job.payload,
    result: job.result,
    resultDropped: job.resultDropped,
    attempts: job.attempts,
    maxAttempts: job.maxAttempts,
    crashes: job.crashes,
    deferrals: job.deferrals,
    fence: job.fence,
    error: job.error === null ? null : { ...job.error },
    reason: job.reason,
    by: job.by,
    progress: job.progress === null ? null : { ...job.progress },
    tags: [...job.tags],
    meta: job.meta,
    trace: job.trace,
    dedupeKey: job.dedupe?.key ?? null,
    cancelAsked: job.cancelWhy !== null,
    createdAt: job.createdAt,
    updatedAt: job.updatedAt,
    runAt: job.runAt,
    startedAt: job.startedAt,
    finishedAt: job.finishedAt,
    worker: job.worker,
    leasedAt: job.leasedAt,
    leaseUntil: job.leaseUntil,
  };
}

export function storedSnapshot(job: MemoryJob): StoredJob {
  return {
    ...summarySnapshot(job),
    keyLifetime: job.dedupe?.lifetime ?? null,
    checkpoint: job.checkpoint,
    steps: copies(job.steps),
    logs: copies(job.logs),
    history: copies(job.history),
  };
}

export function leasedSnapshot(
  job: MemoryJob,
  { isExhausted }: { readonly isExhausted: boolean },
): LeasedJob {
  return {
    id: job.id,
    queue: job.queue,
    // A job is found by its id here: there is nothing more to note.
    handle: job.id,
    fence: job.fence,
    group: job.group,
    type: job.type,
    payload: job.payload,
    priority: job.priority,
    attempt: job.attempts,
    maxAttempts: job.maxAttempts,
    exhausted: isExhausted,
    crashes: job.crashes,
    deferrals: job.deferrals,
    checkpoint: job.checkpoint,
    steps: copies(job.steps),
    tags: [...job.tags],
    meta: job.meta,
    trace: job.trace,
    createdAt: job.createdAt,
    runAt: job.runAt,
  };
}

/** Copies of flat objects. */
export function copies<T extends object>(items: readonly T[]): T[] {
  return items.map((item) => ({ ...item }));
}
