/**
 * What can be seen of a running system, and from where:
 *
 * - by the spy around the real store, in the order the store did it: every verb, item by item, with
 *   what went in and what came out;
 * - above it: what handlers do, what producers are told, which processes die of what, which calls
 *   leave a process and how they end.
 *
 * An invariant watches what it needs. For the store's verbs the book still shows the facts as they
 * were before the item; it is brought up to date right after.
 */
import type {
  FinishedStatus,
  JobSummary,
  NewJob,
  StoredJob,
} from "../../packages/holdfast/src/core/job.ts";
import type {
  DisownRequest,
  InsertResult,
  LeasedJob,
  LeaseReply,
  LeaseRequest,
  QueueCounts,
  ReapedJob,
  Renewal,
  RenewResult,
  Retention,
  Settlement,
  SettleResult,
} from "../../packages/holdfast/src/core/store.ts";
import type { StoredEntry } from "../../packages/holdfast/src/core/ledger.ts";
import type { HoldChange } from "../../packages/holdfast/src/core/line.ts";
import type { Swap } from "../../packages/holdfast/src/core/records.ts";
import type { Book } from "./facts/book.ts";
import type { Operation, OperationResult } from "./facts/apply-operate.ts";
import type { JobFacts } from "./facts/job-facts.ts";
import type { ControlSettings } from "./settings.ts";
import type { InvariantName } from "./violation.ts";

/** One run of a handler. */
export interface Run {
  readonly jobId: string;
  readonly fence: number;
  readonly process: string;
}

/** Fences are unique for each job, not among jobs. */
export function attemptKey({ jobId, fence }: Pick<Run, "jobId" | "fence">): string {
  return `${jobId}@${fence}`;
}

/** A call about attempts that a process makes, from the moment it leaves. */
export interface AttemptsCall {
  readonly verb: "renew" | "settle";
  readonly process: string;
  /** By `attemptKey`. */
  readonly attempts: ReadonlySet<string>;
  readonly sentAt: number;
}

export interface Death {
  readonly process: string;
  /** The run whose handler killed it; null: it died of something else. */
  readonly killer: Run | null;
}

/** An enqueue, from the call to its answer. */
export interface Enqueue {
  /** Stands in the payload, so that its job can be recognised; null: another may have the same. */
  readonly token: string | null;
  readonly process: string;
}

/**
 * What a failed enqueue says of its job: it never was and never will be stored, or nobody knows. Also
 * "full" and "conflict" leave a doubt: an earlier try that was given up may still arrive.
 */
export type Certainty = "never" | "unknown";

export interface Watcher {
  inserted?(job: NewJob, result: InsertResult, how: { readonly evenIfFull: boolean }): void;
  leaseAsked?(request: LeaseRequest): void;
  leased?(leased: LeasedJob, request: LeaseRequest): void;
  leaseAnswered?(request: LeaseRequest, reply: LeaseReply): void;
  renewed?(renewal: Renewal, result: RenewResult): void;
  settled?(settlement: Settlement, result: SettleResult): void;
  reaped?(reaped: ReapedJob): void;
  /** A worker said what it knows of; by the facts these go back, the store says how many went. */
  disowned?(request: DisownRequest, taken: readonly JobFacts[], count: number): void;
  operated?(
    id: string,
    operation: Operation,
    result: OperationResult | "missing",
    by: string | null,
  ): void;
  /** A hold was set or lifted, by this process. */
  held?(change: HoldChange, process: string): void;
  /** A record was written or deleted, by this process. */
  swapped?(swap: Swap, process: string): void;
  pruned?(gone: readonly JobFacts[], count: number, policies: readonly Retention[]): void;
  looked?(id: string, found: StoredJob | JobSummary | "pruned" | null): void;
  /** All that the ledger has, in calm weather. */
  ledgerLooked?(entries: readonly StoredEntry[]): void;
  /** The faults are over and everything has come to its end. */
  calmed?(): void;
  /** The ledger was asked for these entries, and had those. */
  entriesLooked?(asked: readonly string[], found: ReadonlySet<string>): void;
  counted?(counts: readonly QueueCounts[]): void;

  /** A worker's call leaves its process, comes back, or fails. */
  sent?(verb: string, process: string): void;
  answered?(verb: string, process: string, about: Answered): void;
  failed?(verb: string, process: string): void;
  /** A call about attempts leaves its process; it hears the answer. */
  asked?(call: AttemptsCall): void;
  heard?(call: AttemptsCall): void;
  /** A process hears that a lease or a renewal it asked for at `sentAt` was granted. */
  granted?(run: Run, sentAt: number): void;
  /** It hears that a renewal came too late. */
  toldLost?(run: Run): void;
  handlerStarted?(run: Run, checkpoint: unknown): void;
  /** A job is about to run without its lock, which did not answer. */
  ranLockless?(jobId: string, process: string): void;
  /** The handler does something, with its signal aborted or not. */
  acted?(run: Run, isAborted: boolean): void;
  stepStarted?(run: Run, name: string): void;
  stepEnded?(run: Run, name: string, value: unknown): void;
  saved?(run: Run, number: number): void;
  spawned?(run: Run, childId: string): void;
  /** A handler settles in a transaction of its own; its end is told when it is certain. */
  transaction?(run: Run, what: "opened" | "committed" | "rolled back"): void;
  threwPermanent?(run: Run): void;
  died?(death: Death): void;
  /** A process hears nothing for a while; it goes on. */
  froze?(process: string): void;
  thawed?(process: string): void;
  /** It was asked to stop. */
  stopping?(process: string): void;
  acknowledged?(enqueue: Enqueue, jobId: string, status: "added" | "duplicate"): void;
  refused?(enqueue: Enqueue, certainty: Certainty): void;
  /** A listener of `hf.on` heard how a job ended. */
  announced?(jobId: string, ending: FinishedStatus, process: string): void;
  /** `waitFor` answered. */
  waitedFor?(jobId: string, status: FinishedStatus | "pruned"): void;
}

/** What an answer to a worker speaks of. */
export interface Answered {
  readonly queues: readonly string[];
  /** The name under which what it did not know of was taken back. */
  readonly disowned: string | null;
}

/** What every invariant is given. */
export interface Court {
  readonly book: Book;
  readonly leaseMs: number;
  readonly renewMs: number;
  /** The queues lie on several servers, and each of them is asked by itself. */
  readonly hasSeveralServers: boolean;
  readonly maxCrashes: number;
  /** Milliseconds of virtual time. */
  now(): number;
  /** Do jobs of this type go on while the store is away? */
  goesOnThroughOutages(type: string): boolean;
  /** Since when the store has been reachable for everybody after a long outage; null: never away. */
  outageEndedAt(): number | null;
  /** What is set up in a world under control; null: a plain one. */
  readonly control: ControlSettings | null;
  complain(invariant: InvariantName, message: string, jobId?: string): void;
}
