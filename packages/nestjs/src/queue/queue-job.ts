/** A stored job in the words of a jobs collection. Programs read it whole; as JSON, secrets in it are hidden. */
import type { Holdfast, JobListing, Receipt } from "holdfast";
import { JobStatus } from "./job-document.ts";

/** What a worker's lease is where no worker has the job. */
const LEASE_MS = 10_000;

/** What there must be of a job to show it. */
export type QueueJobSource = Omit<
  JobListing,
  | "queue"
  | "group"
  | "resultDropped"
  | "crashes"
  | "progress"
  | "cancelAsked"
  | "tags"
  | "meta"
  | "expiresAt"
  | "idempotencyKey"
>;

export class QueueJob {
  readonly _id: string;
  readonly type: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- as a document of a collection: its reader knows its payload
  readonly payload: any;
  // oxlint-disable-next-line typescript/no-explicit-any -- and its result
  readonly result: any;
  readonly status: JobStatus;
  readonly priority: number;
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Why it failed, while or after it did. */
  readonly error: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  /** Not before then. */
  readonly availableAt: Date;
  readonly lockedAt: Date | null;
  readonly lockOwner: string | null;
  readonly visibilityTimeoutMs: number;
  readonly #hf: Holdfast;

  constructor(hf: Holdfast, job: QueueJobSource) {
    this.#hf = hf;
    this._id = job.id;
    this.type = job.type;
    this.payload = job.payload;
    this.result = job.result;
    this.status = statusOf(job);
    this.priority = job.priority;
    this.attempts = job.attempts;
    this.maxAttempts = job.maxAttempts;
    this.error = job.error?.message ?? job.reason;
    this.createdAt = job.createdAt;
    this.updatedAt = job.updatedAt;
    this.startedAt = job.startedAt;
    this.finishedAt = job.finishedAt;
    this.availableAt = job.runAt;
    this.lockedAt = job.leasedAt;
    this.lockOwner = job.status === "processing" ? job.worker : null;
    const leaseMs = (job.leaseUntil?.getTime() ?? 0) - (job.leasedAt?.getTime() ?? 0);
    this.visibilityTimeoutMs = leaseMs > 0 ? leaseMs : LEASE_MS;
  }

  /** A controller may return it as it is. */
  toJSON(): object {
    const { redact } = this.#hf.tools;
    return {
      ...Object.fromEntries(Object.entries(this)),
      payload: redact.value(this.payload),
      result: redact.value(this.result),
      error: this.error === null ? null : redact.text(this.error),
    };
  }
}

/** A delayed or retrying job is queued; a dead or cancelled one has failed. */
function statusOf({ status }: QueueJobSource): JobStatus {
  return status === "dead" || status === "cancelled" ? JobStatus.FAILED : status;
}

/** A job that was taken, and cannot be read right now: it waits in a spool, or the store has gone since. */
export function justTaken(
  { id, type, jobStatus }: Pick<Receipt, "id" | "type" | "jobStatus">,
  given: { readonly payload: unknown; readonly priority: number; readonly maxAttempts: number },
): QueueJobSource {
  const now = new Date();
  return {
    ...{ id, type, ...given, status: jobStatus === "pruned" ? "succeeded" : jobStatus },
    ...{ result: null, attempts: 0, error: null, reason: null, worker: null },
    ...{ createdAt: now, updatedAt: now, runAt: now, startedAt: null, finishedAt: null },
    ...{ leasedAt: null, leaseUntil: null },
  };
}
