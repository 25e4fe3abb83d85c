/**
 * A job as every store keeps it, and the words for its parts.
 *
 * Payloads, results, checkpoints, step values and metadata cross the seam as JSON *text*: a store
 * never parses what a user wrote, so the bytes that went in are the bytes that come out.
 * Instants are milliseconds since the epoch by the store's clock.
 */

export const JOB_STATUSES = ["queued", "processing", "succeeded", "dead", "cancelled"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const FINISHED_STATUSES = ["succeeded", "dead", "cancelled"] as const;
export type FinishedStatus = (typeof FINISHED_STATUSES)[number];

export function isFinished(status: JobStatus): status is FinishedStatus {
  return status === "succeeded" || status === "dead" || status === "cancelled";
}

export const ERROR_CATEGORIES = [
  "rate_limit",
  "network",
  "auth",
  "validation",
  "timeout",
  "unknown",
] as const;
export type ErrorCategory = (typeof ERROR_CATEGORIES)[number];

/** What went wrong in an attempt, cleaned and cut so that every store accepts it. */
export interface Failure {
  readonly category: ErrorCategory;
  /** At most 2000 characters. */
  readonly message: string;
  /** At most 4000 characters. */
  readonly stack: string | null;
  /** Equal for failures that look alike (type, category, message without numbers). */
  readonly fingerprint: string | null;
}

/**
 * One ended attempt. Kept by fence, the last {@link HISTORY_LENGTH} of a job. A success at the first
 * attempt leaves none, and neither does a start that was taken back by a snooze or a release.
 */
export interface AttemptRecord {
  readonly attempt: number;
  readonly fence: number;
  readonly worker: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: "succeeded" | "failed" | "crashed" | "cancelled";
  readonly category: ErrorCategory | null;
  readonly message: string | null;
  readonly stack: string | null;
}

export interface Progress {
  /** 0 to 100. */
  readonly percent: number;
  readonly message: string | null;
}

export interface LogLine {
  readonly at: number;
  readonly text: string;
}

/** A finished step: its value is never computed again. */
export interface Step {
  readonly name: string;
  /** JSON text. */
  readonly value: string;
}

/** How long an idempotency key blocks a second job. */
export type KeyLifetime = "kept" | "until-finished" | { readonly ttlMs: number };

export interface DedupeKey {
  /** Unique in its queue while it lives. */
  readonly key: string;
  /** Of type and canonical payload: the same key with another hash is a conflict. */
  readonly hash: string;
  readonly lifetime: KeyLifetime;
}

/** A job to be stored. Its id is made by the client, so a repeated insert is a duplicate. */
export interface NewJob {
  /** UUIDv7, lower case. */
  readonly id: string;
  readonly queue: string;
  /** `""` for a job without a group. */
  readonly group: string;
  readonly type: string;
  /** JSON text. */
  readonly payload: string;
  /** 0 to `MAX_PLACE`, lower first. Callers give up to `MAX_PRIORITY`; in a queue that ages it grows with time. */
  readonly priority: number;
  /** Due this long after the insert, by the store's clock. Ignored when `runAt` is set. */
  readonly delayMs: number;
  /** Due at this instant of the store's clock. */
  readonly runAt: number | null;
  readonly maxAttempts: number;
  readonly dedupe: DedupeKey | null;
  readonly tags: readonly string[];
  /** JSON text of the caller's metadata. */
  readonly meta: string | null;
  /** Trace context of the producer. */
  readonly trace: string | null;
}

/** What `find` lists: everything but what can be long. */
export interface JobSummary {
  readonly id: string;
  readonly queue: string;
  readonly group: string;
  readonly type: string;
  readonly status: JobStatus;
  readonly priority: number;
  readonly payload: string;
  readonly result: string | null;
  /** The handler's result was too large or not JSON, and was not stored. */
  readonly resultDropped: boolean;
  /** Starts that were not taken back; never more than `maxAttempts`. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Leases that ran out. */
  readonly crashes: number;
  /** Retries that spent no attempt (the other side named a time). */
  readonly deferrals: number;
  readonly fence: number;
  /** Of the last failed attempt; null once the job succeeded. */
  readonly error: Failure | null;
  /** Why it is dead or cancelled: `failed`, `crashed`, `poison`, `validation`, or a person's words. */
  readonly reason: string | null;
  /** Who cancelled or revived it last. */
  readonly by: string | null;
  readonly progress: Progress | null;
  readonly tags: readonly string[];
  readonly meta: string | null;
  readonly trace: string | null;
  readonly dedupeKey: string | null;
  /** A running job somebody wants stopped. */
  readonly cancelAsked: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When it is or was due. */
  readonly runAt: number;
  /** When the newest attempt was leased. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Of the newest attempt. */
  readonly worker: string | null;
  /** Set while it is processing. */
  readonly leasedAt: number | null;
  readonly leaseUntil: number | null;
}

export interface StoredJob extends JobSummary {
  /** Of `dedupeKey`: how long it blocks; null if there is none. */
  readonly keyLifetime: KeyLifetime | null;
  readonly checkpoint: string | null;
  /** In the order they finished. */
  readonly steps: readonly Step[];
  /** Oldest first. */
  readonly logs: readonly LogLine[];
  /** Oldest first. */
  readonly history: readonly AttemptRecord[];
}

/** A whole job from elsewhere: another store, a peer, a ledger. Its lease, if any, stays behind. */
export interface AdoptedJob {
  readonly id: string;
  readonly queue: string;
  readonly group: string;
  readonly type: string;
  readonly status: Exclude<JobStatus, "processing">;
  readonly priority: number;
  readonly payload: string;
  readonly result: string | null;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly crashes: number;
  readonly fence: number;
  readonly error: Failure | null;
  readonly reason: string | null;
  readonly checkpoint: string | null;
  readonly steps: readonly Step[];
  readonly logs: readonly LogLine[];
  readonly history: readonly AttemptRecord[];
  readonly dedupe: DedupeKey | null;
  readonly tags: readonly string[];
  readonly meta: string | null;
  readonly trace: string | null;
  readonly createdAt: number;
  readonly runAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

/** Bounds that hold on every store. */
export const HISTORY_LENGTH = 20;
export const LOG_LENGTH = 200;
export const LOG_LINE_BYTES = 1024;
export const MAX_PRIORITY = 8191;
/** The last place in a line (`core/aging.ts`). */
export const MAX_PLACE = 2 ** 31 - 1;
/** A store may take more: `Store.batchItems`. */
export const BATCH_ITEMS = 200;
export const BATCH_BYTES = 4 * 1024 * 1024;
