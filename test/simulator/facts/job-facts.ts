/**
 * What is known of a job from outside the store: only from what went into its verbs and what they
 * answered, in the order in which the store did them.
 */
import type {
  DedupeKey,
  FinishedStatus,
  JobStatus,
} from "../../../packages/holdfast/src/core/job.ts";
import type { HeapItem } from "../../../packages/holdfast/src/stores/memory/heap.ts";

export interface LeaseFacts {
  readonly fence: number;
  readonly worker: string;
  readonly process: string;
  readonly grantedAt: number;
  /** The count of the last renewal whose updates were written. */
  updatesOrder: number;
  /** By the store's clock. */
  until: number;
  /** What the lease added to `attempts`: nothing if they were all spent before. */
  readonly spent: 0 | 1;
  readonly crashes: number;
  /** It had crashed before, and its holder has not said that its handler starts. */
  isUnstarted: boolean;
}

export interface StepFacts {
  readonly value: string;
  /** Of the attempt that stored it. */
  readonly fence: number;
}

export interface JobFacts extends HeapItem {
  readonly id: string;
  /** The order of insertion. */
  readonly seq: number;
  readonly queue: string;
  readonly group: string;
  readonly type: string;
  readonly priority: number;
  readonly createdAt: number;
  payload: string;
  status: JobStatus;
  place: "ready" | "delayed" | "processing" | FinishedStatus | "gone";
  maxAttempts: number;
  attempts: number;
  crashes: number;
  deferrals: number;
  /** The last one seen; a reap or a disown moves it on to a number nobody has seen. */
  fence: number;
  settledFence: number | null;
  runAt: number;
  finishedAt: number | null;
  lease: LeaseFacts | null;
  cancelAsked: boolean;
  checkpoint: string | null;
  readonly steps: Map<string, StepFacts>;
  readonly dedupe: (Omit<DedupeKey, "hash"> & { hash: string }) | null;
  /** Every way it has ever ended: a revived job may end twice. */
  readonly endings: Set<FinishedStatus>;
  /** Handlers that started and whose attempt was not taken back. */
  spentStarts: number;
  /** Fences under which a handler started, as long as their attempt is not taken back. */
  readonly startedFences: Set<number>;
  /** The highest number a handler was told is saved. */
  savedNumber: number;
  /** Leases since its handler last started, and since when they are counted. */
  idleLeases: number;
  idleSince: number;
}

export function isLive(job: JobFacts): boolean {
  return job.status === "queued" || job.status === "processing";
}
