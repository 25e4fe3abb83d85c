/**
 * The contract by which features stand on the engine: failures and replay, locks, gates, schedules,
 * statistics, and a user's own middleware. An extension sees each attempt at fixed points and may say
 * something there; none of them changes a line of the lease loop, the pipeline or the settler.
 *
 *   admit ─▶ lease ─▶ leased ─▶ before ─▶ around(handler) ─▶ decided ─▶ settle ─▶ ended
 *
 * Extensions are asked in the order of their registration, `decided` in the reverse order. A hook has two
 * seconds, `admit` a quarter of one. What throws or takes longer is logged, counted and passed over; but a
 * throw of `around` fails the attempt.
 */
import type { JobContract, JobItem } from "../core/contract.ts";
import type { HoldfastError } from "../core/errors.ts";
import type { NewJob } from "../core/job.ts";
import type { Ledger, LedgerEntry } from "../core/ledger.ts";
import type { Outcome } from "../core/outcome.ts";
import type { Records } from "../core/records.ts";
import type { Redactor } from "../core/redact.ts";
import type { InsertResult, Retention, Store, StoreInfo } from "../core/store.ts";
import type { AgingQueues } from "./aging-queues.ts";
import type { Chores } from "./chores.ts";
import type { Events } from "./events.ts";
import type { Fleet } from "./lease/fleet.ts";
import type { Logger } from "./logger.ts";
import type { QueueSettings } from "./queue-settings.ts";
import type { Handler } from "./registry.ts";
import type { About } from "./settle/ledger-entries.ts";
import type { Runtime } from "./runtime.ts";

/** How many jobs of a queue may be asked for now, and when to ask again; null: when something happens. */
export interface Admission {
  readonly jobs: number;
  readonly nextInMs: number | null;
}

/** What is stored: the outcome, and entries for the ledger. */
export interface Decision {
  readonly outcome: Outcome;
  readonly entries?: readonly LedgerEntry[];
}

export interface Timings {
  /** From when the job was due to the start of its handler, by the store's clock. */
  readonly waitedMs: number;
  /** 0 if its handler did not run. */
  readonly ranMs: number;
}

/** `given up`: the process ended before the store answered. */
export type Ended = "settled" | "lost" | "given up";

/** One attempt, as extensions see it. */
export interface AttemptView {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  readonly group: string | null;
  /** What the handler gets; undefined if the payload could not be read, or the job must not run. */
  readonly payload: unknown;
  /** JSON text, as it is stored. */
  readonly payloadText: string;
  readonly priority: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly crashes: number;
  readonly fence: number;
  readonly worker: string;
  readonly tags: readonly string[];
  readonly trace: string | null;
  readonly createdAt: Date;
  readonly runAt: Date;
  readonly signal: AbortSignal;
  readonly contract: JobContract | null;
}

export interface Extension {
  readonly name: string;
  /** Asked once per type (see `hooksChanged`): no hook, no wait for types it does not concern. Default: all. */
  applies?(contract: JobContract): boolean;
  /**
   * Before a lease: how many jobs of this queue may be asked for now. Undefined: as many as wanted. May come
   * and go: a lease without any costs what it costs without extensions.
   */
  readonly admit?:
    | ((queue: string, wanted: number) => Admission | undefined | Promise<Admission | undefined>)
    | undefined;
  /** What came of an admission. `unsure`: the worker cannot know how many were leased. */
  leased?(queue: string, granted: number, taken: number | "unsure"): void;
  /** After the lease, before the handler: an outcome ends the attempt without it. */
  before?(attempt: AttemptView): Outcome | undefined | Promise<Outcome | undefined>;
  around?(attempt: AttemptView, next: () => Promise<unknown>): Promise<unknown>;
  /**
   * Once the outcome is known, before it is stored; also after `before`'s, and for an abandoned handler.
   * Undefined: nothing to add. In `settleWithin` only its entries count.
   */
  decided?(
    attempt: AttemptView,
    outcome: Outcome,
  ): Decision | undefined | Promise<Decision | undefined>;
  /** Exactly once for every attempt whose `before` was asked. Null: its outcome was never known. */
  ended?(attempt: AttemptView, how: Ended, outcome: Outcome | null, timings: Timings): void;
  /** The store is open: what must be known before the first job is enqueued or leased. A throw fails the opening. */
  opened?(): Promise<void>;
  /** Where a new job goes, in place of the queue that it names; asked when it is made, and once the store is open. */
  place?(job: NewJob): string | undefined;
  /** Before an enqueue of this process: an error refuses it. Undefined at once: no wait. */
  refuses?(job: NewJob): undefined | Promise<HoldfastError | undefined>;
  /** What became of an enqueue of this process. */
  enqueued?(job: NewJob, answer: InsertResult): void;
  /** The workers have stopped and the store is about to close: the last moment to store something. */
  closing?(): Promise<void>;
  readonly chores?: readonly Chore[];
}

/** Upkeep. No leader: it may run anywhere, at the same time, twice. */
export interface Chore {
  readonly name: string;
  readonly everyMs: number;
  /** Default: only while this process has a worker. `everywhere`: also where jobs are only enqueued. */
  readonly runsIn?: "workers" | "everywhere";
  /** Answers in how many milliseconds it wants to be done again, if that is not the usual. */
  run(context: { readonly isStopped: () => boolean }): Promise<number | void>;
}

/** What the engine offers an extension. */
export interface ExtensionHost {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly records: Records;
  /** Records that must be true after the jobs are gone: with a ledger elsewhere, there. */
  readonly lastingRecords: <Out>(call: (records: Records) => Promise<Out>) => Promise<Out>;
  /** Wherever the ledger is. Throws where there is none. */
  readonly ledger: <Out>(call: (ledger: Ledger) => Promise<Out>) => Promise<Out>;
  readonly jobs: Pick<
    Store,
    | "now"
    | "find"
    | "get"
    | "place"
    | "count"
    | "countDead"
    | "insert"
    | "revive"
    | "cancel"
    | "reschedule"
    | "remove"
  >;
  readonly lines: Pick<Store, "hold" | "limit" | "lines">;
  readonly workers: Pick<
    Fleet,
    "id" | "list" | "processes" | "command" | "onChange" | "announceChange"
  >;
  /** Does a chore of this process now. */
  readonly chores: Pick<Chores, "soon">;
  /** Checks, encodes and routes a job as an enqueue does, and stores nothing. */
  readonly compose: (item: JobItem) => NewJob | Promise<NewJob>;
  /** Writes entries that come with no settle, or to where they wait for a ledger elsewhere. Throws. */
  readonly record: (entries: readonly LedgerEntry[]) => Promise<void>;
  /** The answers of an extension's `applies` have changed: types are asked again. */
  readonly hooksChanged: () => void;
  /** How many attempts a new job of this type gets. */
  readonly attemptsOf: (type: string) => number;
  readonly hasLedger: boolean;
  /** How long dead jobs are kept, where they are archived before they go: `prune` leaves them alone. */
  readonly archivedPolicies: () => Promise<readonly Retention[]>;
  readonly settings: Pick<QueueSettings, "get" | "list" | "keep">;
  /** How much waiting counts as one step of priority, by queue. */
  readonly aging: Pick<AgingQueues, "of" | "set">;
  /** What this process tells its listeners. */
  readonly events: Pick<Events, "on" | "emit">;
  /** What the store says of itself, as it was when last looked at. */
  readonly storeInfo: () => StoreInfo;
  /** Registers a job type of the feature's own. A worker runs it if it is told to take its queue. */
  readonly handleOwn: (contract: JobContract, handler: OwnHandler) => void;
  /** Hides secrets in whatever leaves the jobs' own store. */
  readonly redactor: Redactor;
  /** The most of a payload that an entry of the ledger keeps, in bytes. */
  readonly entryPayloadBytes: () => number;
  /** Removes what is past its retention from the ledger now; answers how many entries. */
  readonly trimLedger: (kind: string) => Promise<number>;
  /** The time for an entry of the ledger; null: its store's own clock. */
  readonly entryTime: () => number | null;
  /** Notes what an operator did. */
  readonly audit: (
    action: {
      readonly action: string;
      readonly by: string | null;
      readonly reason: string | null;
      readonly details?: Readonly<Record<string, unknown>>;
    },
    about: Omit<About, "at"> & {
      /** Where the same may be noted again. */
      readonly id?: string;
    },
  ) => Promise<void>;
}

export type OwnHandler = Handler;
export { jobListing, type JobListing } from "./operate/job-view.ts";
export { jobsFilter, type JobsFilter } from "./operate/jobs-filter.ts";
export { sleep } from "./runtime.ts";
export { derivedUuid } from "./derived-uuid.ts";
export { isRetryable } from "./retrying.ts";
export { fillPage } from "./operate/fill-page.ts";
export { policiesOf, type KeepRules } from "./retention.ts";
export { auditEntry } from "./settle/ledger-entries.ts";

export type ExtensionFactory = (host: ExtensionHost) => Extension;
