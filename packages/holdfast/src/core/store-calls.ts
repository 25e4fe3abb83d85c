/** What the verbs of the seam take and answer; `store.ts` says what they promise. */
import type { ErrorCategory, FinishedStatus, JobStatus, JobSummary, NewJob } from "./job.ts";
import type { Progress, Step } from "./job.ts";
import type { LedgerEntry } from "./ledger.ts";
import type { LineState, QueueState } from "./line.ts";
import type { Outcome } from "./outcome.ts";

export interface JobRef {
  readonly id: string;
  /** Where known: saves some stores a search. */
  readonly queue?: string;
}

export interface InsertOptions {
  /** For work that is already promised (a relayed spawn): ignore `maxWaiting`. */
  readonly evenIfFull?: boolean;
  /**
   * The ids were made for this call: each is another, and nobody else has them, so nobody needs to look
   * for them. Whoever calls again after a lost reply does not say so; if both calls get through there is
   * one job, and both may answer `added`.
   */
  readonly areNew?: boolean;
}

export type InsertResult =
  | { readonly outcome: "added"; readonly id: string }
  /** Same id, or same key and hash. `pruned`: the job is gone, its key or id is remembered. */
  | { readonly outcome: "duplicate"; readonly id: string; readonly status: JobStatus | "pruned" }
  /** Same key, other hash. */
  | { readonly outcome: "conflict"; readonly id: string; readonly status: JobStatus | "pruned" }
  | { readonly outcome: "full"; readonly maxWaiting: number }
  /** An open transaction is taking or freeing this very key, and did not end in the time we waited. */
  | { readonly outcome: "busy" };

export interface LeaseRequest {
  readonly worker: string;
  readonly leaseMs: number;
  /** How many in all. */
  readonly limit: number;
  /**
   * How many of them may come from lines that a cap concerns (their own, the queue's or its default
   * for lines); default `limit`. The rest will wait in the worker, and a job that waits there must
   * not take up a capped line's slot.
   */
  readonly cappedLimit?: number;
  /**
   * How many bytes of payload in all, more or less; the first job comes whatever its size. Default: no
   * bound. What is left behind for it is ready work: `nextInMs` is 0.
   */
  readonly maxBytes?: number;
  /**
   * At most `limit` of each; shares by `weight`, default 1. What `cappedLimit` allows is not shared out: it goes
   * to them in this order.
   */
  readonly queues: readonly {
    readonly queue: string;
    readonly limit: number;
    readonly weight?: number;
  }[];
}

export interface LeaseReply {
  readonly jobs: readonly LeasedJob[];
  /**
   * When to come back if nothing wakes the caller: 0 if more is ready now (or may be: the limit was
   * reached and nobody looked), the time to the next due job or end of a hold in these queues, null if
   * nothing is in sight. What is held or full is not
   * ready, nor is a capped line to a caller who wants nothing of capped lines.
   */
  readonly nextInMs: number | null;
  /**
   * Queues in which jobs may have been leased that are not in `jobs`: their part of the reply got lost.
   * The caller disowns them. Absent or empty: nothing is in doubt.
   */
  readonly unsure?: readonly string[];
}

/** What a worker says of an id it never leases with again; see `Store.disown`. */
export interface DisownRequest {
  readonly worker: string;
  /** Where it may have leased. A store may look further. */
  readonly queues: readonly string[];
  /** What it knows it has. */
  readonly except: readonly LeaseRef[];
}

/** Names one attempt. The handle is the store's own note to itself, from `lease`. */
export interface LeaseRef {
  readonly id: string;
  readonly queue: string;
  readonly handle: string;
  readonly fence: number;
}

export interface LeasedJob extends LeaseRef {
  readonly group: string;
  readonly type: string;
  readonly payload: string;
  readonly priority: number;
  /** 1 for the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** All attempts were spent before this lease: it must not run, only be settled. */
  readonly exhausted: boolean;
  readonly crashes: number;
  readonly deferrals: number;
  readonly checkpoint: string | null;
  readonly steps: readonly Step[];
  readonly tags: readonly string[];
  readonly meta: string | null;
  readonly trace: string | null;
  readonly createdAt: number;
  readonly runAt: number;
}

/** Written under the fence of the call that carries them. */
export interface Updates {
  readonly progress?: Progress;
  /** Appended; the store adds its time and keeps the last `LOG_LENGTH`. */
  readonly logs?: readonly string[];
  /** JSON text. */
  readonly checkpoint?: string;
  /** Appended; a name that is there already stays as it is. */
  readonly steps?: readonly Step[];
}

export interface Renewal extends LeaseRef {
  readonly updates?: Updates;
  /**
   * Counts the renewals of one attempt that carry something. One that is not above the last written
   * under its fence is a repeat, or was given up and arrives late: it extends the lease, and its
   * updates are passed over. Without a count they are always written.
   */
  readonly order?: number;
  /**
   * The handler starts now. A job that has crashed before is charged for a lease that ran out only after
   * its holder said so: until then it waited, and cannot have done any harm.
   */
  readonly starts?: boolean;
}

/**
 * `busy`: it is kept, and what the renewal carries is not written, because an open transaction of a caller has
 * the job. The caller asks again.
 */
export type RenewResult = "kept" | "lost" | "cancel" | "busy";

export interface Settlement extends LeaseRef {
  readonly outcome: Outcome;
  readonly updates?: Updates;
  readonly spawn?: readonly NewJob[];
  /** For this store's own ledger. */
  readonly entries?: readonly LedgerEntry[];
  /** For a ledger elsewhere: kept in the outbox until relayed. */
  readonly outbox?: readonly LedgerEntry[];
  /** Do not keep the job once it has finished; its id and fence are remembered. */
  readonly discard?: boolean;
}

/** `busy`: an open transaction of a caller has the job, nothing is written. The caller asks again. */
export type SettleResult = "settled" | "lost" | "busy";

export interface ReapedJob {
  readonly id: string;
  readonly queue: string;
  readonly group: string;
  readonly type: string;
  /** Whose lease ran out. */
  readonly worker: string;
  readonly attempts: number;
  readonly crashes: number;
  /** False: it never started as far as its holder said, and goes back as if released. */
  readonly charged: boolean;
  readonly status: "queued" | "cancelled";
}

/** Ids, or all jobs a filter matched at one time, in steps: repeat with `cursor` until it is null. */
export type Target =
  | { readonly ids: readonly JobRef[] }
  | {
      readonly filter: JobFilter;
      /** Jobs created or finished after this are left alone. */
      readonly frozenAt: number;
      readonly limit: number;
      readonly cursor?: string | null;
    };

export interface Why {
  readonly reason: string | null;
  readonly by: string | null;
}

export interface Due {
  readonly delayMs: number;
  readonly runAt: number | null;
}

export interface Revival extends Due {
  readonly payload?: { readonly json: string; readonly hash: string | null };
  /** How many attempts it gets from now on. */
  readonly attempts: number;
}

export interface Changes {
  /** In the order of the ids; for a filter, what was changed or refused in this step. */
  readonly changes: readonly Change[];
  /** Null for ids, and after the last step of a filter. */
  readonly nextCursor: string | null;
}

export interface Change {
  readonly id: string;
  /** `asked`: a running job will hear of it. `refused`: not in a status that allows it. */
  readonly result: "done" | "asked" | "refused" | "missing";
  /** After the change; null if missing or removed. */
  readonly status: JobStatus | null;
}

export interface Retention {
  readonly queue: string | null;
  readonly status: FinishedStatus;
  /** Null: no bound by age. */
  readonly olderThanMs: number | null;
  /** Keep the newest so many; null: no bound by count. */
  readonly keep: number | null;
}

/** All given conditions must hold. Times are of `createdAt`: `from` inclusive, `to` exclusive. */
export interface JobFilter {
  readonly status?: readonly JobStatus[];
  /** Queued jobs only: due later (true) or ready (false). */
  readonly delayed?: boolean;
  readonly queue?: string;
  readonly group?: string;
  readonly type?: string;
  readonly tag?: string;
  /** Of the last failure. */
  readonly category?: ErrorCategory;
  /** Of the last failure. */
  readonly fingerprint?: string;
  /** Of the newest attempt: a processing job's holder. */
  readonly worker?: string;
  /** Queued jobs only: with attempts behind them (true) or none (false). */
  readonly retrying?: boolean;
  readonly from?: number;
  readonly to?: number;
  /** Of `finishedAt`, inclusive: finished jobs only. */
  readonly finishedFrom?: number;
  /** Of `finishedAt`, exclusive: finished jobs only. */
  readonly finishedTo?: number;
}

export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string | null;
  /** By insertion. Default newest first. */
  readonly order?: "newest" | "oldest";
  /** Payloads and results are not read: the page has `null` in their place, as JSON text and as result. */
  readonly without?: "payloads";
}

export interface JobPage {
  readonly jobs: readonly JobSummary[];
  readonly nextCursor: string | null;
}

export interface QueueCounts {
  readonly queue: string;
  readonly ready: number;
  readonly delayed: number;
  readonly processing: number;
  readonly succeeded: number;
  readonly dead: number;
  readonly cancelled: number;
  /** Of the ready and the delayed ones: with attempts behind them, counted to `COUNTED_TO`. */
  readonly retrying: number;
  /** The earliest `runAt` of a ready job: since when the longest waiting one waits. Null if none is ready. */
  readonly oldestReadyAt: number | null;
}

/** What dead jobs can be counted by. `fingerprint` and `category` are of the last failure. */
export const DEAD_KEYS = ["fingerprint", "category", "type", "queue", "group"] as const;
export type DeadKey = (typeof DEAD_KEYS)[number];

export interface DeadCountRequest {
  readonly by: DeadKey;
  /** Only those of this queue. */
  readonly queue?: string;
  /** At most so many counts. */
  readonly limit: number;
}

/** The dead jobs that are alike in one respect. */
export interface DeadCount {
  /** Null: they have none. */
  readonly key: string | null;
  /** Counted to `COUNTED_TO`: that number means "that many or more". */
  readonly count: number;
  /** When the first and the last of them died. Past `COUNTED_TO` the first may be a later one. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** The id of one that died last. */
  readonly example: string;
}

export interface LinesRequest {
  readonly limit: number;
  readonly cursor?: string | null;
  /** Without a cursor: the group to begin with, whether there is such a line or not. */
  readonly from?: string;
}

export interface LinesPage {
  /** Null if the queue is unknown. */
  readonly queue: QueueState | null;
  readonly lines: readonly LineState[];
  readonly nextCursor: string | null;
}
