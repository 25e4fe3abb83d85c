/** Jobs as people and programs see them: parsed, with dates. */
import type {
  ErrorCategory,
  Failure,
  JobStatus,
  JobSummary,
  Progress,
  StoredJob,
} from "../../core/job.ts";
import { givenPriority } from "../../core/aging.ts";
import { expiryOf, ownMeta } from "../../core/expiry.ts";
import { decodeJson } from "../../core/json-text.ts";
import { lineageOf, type Lineage } from "../../core/lineage.ts";

export interface JobListing {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  /** Null for a job without a group. */
  readonly group: string | null;
  readonly status: JobStatus;
  readonly priority: number;
  readonly payload: unknown;
  readonly result: unknown;
  /** The result was too large or not JSON, and was not stored. */
  readonly resultDropped: boolean;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly crashes: number;
  readonly error: Failure | null;
  /** Why it is dead or cancelled. */
  readonly reason: string | null;
  readonly progress: Progress | null;
  readonly cancelAsked: boolean;
  readonly tags: readonly string[];
  readonly meta: Record<string, unknown> | null;
  /** Past this it is cancelled instead of run; null: never. */
  readonly expiresAt: Date | null;
  readonly idempotencyKey: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly runAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly worker: string | null;
  readonly leasedAt: Date | null;
  readonly leaseUntil: Date | null;
}

export interface JobView extends JobListing {
  readonly checkpoint: unknown;
  readonly steps: readonly string[];
  readonly logs: readonly { readonly at: Date; readonly text: string }[];
  /** The last 20 ended attempts, oldest first. */
  readonly history: readonly AttemptView[];
  readonly lineage: Lineage;
}

export interface AttemptView {
  readonly attempt: number;
  readonly fence: number;
  readonly worker: string;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly outcome: "succeeded" | "failed" | "crashed" | "cancelled";
  readonly category: ErrorCategory | null;
  readonly message: string | null;
  readonly stack: string | null;
}

/** How a job ended: what `waitFor` resolves to. */
export type FinishedJob<Result = unknown> =
  | {
      readonly status: "succeeded";
      readonly id: string;
      readonly result: Result;
      readonly job: JobView;
    }
  | {
      readonly status: "dead" | "cancelled";
      readonly id: string;
      readonly reason: string | null;
      readonly error: Failure | null;
      readonly job: JobView;
    }
  /** It finished and is no longer kept. */
  | { readonly status: "pruned"; readonly id: string };

export function jobListing(job: JobSummary): JobListing {
  return {
    id: job.id,
    type: job.type,
    queue: job.queue,
    group: job.group || null,
    status: job.status,
    priority: givenPriority(job),
    payload: decodeJson(job.payload),
    result: job.result === null ? null : decodeJson(job.result),
    resultDropped: job.resultDropped,
    attempts: job.attempts,
    maxAttempts: job.maxAttempts,
    crashes: job.crashes,
    error: job.error,
    reason: job.reason,
    progress: job.progress,
    cancelAsked: job.cancelAsked,
    tags: job.tags,
    meta: ownMeta(job.meta),
    expiresAt: dateOrNull(expiryOf(job)),
    idempotencyKey: job.dedupeKey,
    createdAt: new Date(job.createdAt),
    updatedAt: new Date(job.updatedAt),
    runAt: new Date(job.runAt),
    startedAt: dateOrNull(job.startedAt),
    finishedAt: dateOrNull(job.finishedAt),
    worker: job.worker,
    leasedAt: dateOrNull(job.leasedAt),
    leaseUntil: dateOrNull(job.leaseUntil),
  };
}

export function jobView(job: StoredJob): JobView {
  return {
    ...jobListing(job),
    checkpoint: job.checkpoint === null ? null : decodeJson(job.checkpoint),
    steps: job.steps.map(({ name }) => name),
    logs: job.logs.map(({ at, text }) => ({ at: new Date(at), text })),
    history: job.history.map((record) => ({
      ...record,
      startedAt: new Date(record.startedAt),
      endedAt: new Date(record.endedAt),
    })),
    lineage: lineageOf(job),
  };
}

/** Null while it has not finished. */
export function finishedJob<Result>(job: StoredJob): FinishedJob<Result> | null {
  const { status, id } = job;
  switch (status) {
    case "queued":
    case "processing":
      return null;
    case "succeeded": {
      const view = jobView(job);
      return { status, id, result: view.result as Result, job: view };
    }
    case "dead":
    case "cancelled":
      return { status, id, reason: job.reason, error: job.error, job: jobView(job) };
  }
}

function dateOrNull(at: number | null): Date | null {
  return at === null ? null : new Date(at);
}
