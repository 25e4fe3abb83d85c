/**
 * The seam: what every store provides. The memory store is its readable definition, the conformance
 * suite (`src/testing/conformance`) its proof.
 *
 * Laws that hold for every verb:
 *  1. Empty in, empty out, no round trip. Order in is order out.
 *  2. Trouble with one item is a result; an exception means that the call did not happen, or that
 *     nobody can know (`StoreUnavailableError.mayHaveHappened`).
 *  3. Every verb may be called again after a lost reply without doing the thing twice.
 *  4. Only the holder of the current fence can change a processing job. A stale worker changes
 *     nothing and is told so. The fence never resets: not by retry, snooze, release, reap or revive.
 *  5. A job is leased by at most one worker at a time; after expiry (and a reap) somebody gets it.
 *  6. The store's clock decides; it never runs backwards, even if the host's does.
 *  7. A store stores. Who dies, when to retry and why arrive as data.
 *  8. Text comes back byte for byte.
 *  9. Retention never touches work that has not finished.
 * 10. What a store cannot do, it declares in `info()`.
 *
 * Callers keep to `BATCH_ITEMS` and `BATCH_BYTES` a call; the engine splits.
 */
import type { AdoptedJob, NewJob, StoredJob } from "./job.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";
import type { HoldChange, LimitChange } from "./line.ts";
import type { Records } from "./records.ts";
import type {
  JobRef,
  InsertOptions,
  InsertResult,
  LeaseRequest,
  LeaseReply,
  DisownRequest,
  Renewal,
  RenewResult,
  Settlement,
  SettleResult,
  ReapedJob,
  Target,
  Why,
  Due,
  Revival,
  Changes,
  Retention,
  JobFilter,
  PageRequest,
  JobPage,
  QueueCounts,
  DeadCountRequest,
  DeadCount,
  LinesPage,
  LinesRequest,
} from "./store-calls.ts";

export type * from "./store-calls.ts";

export interface Store {
  /** How many items one call may carry, where that is more than `BATCH_ITEMS`. See ADR 0013. */
  readonly batchItems?: number;
  /** How many inserts may be on their way at once: more than one only if they are done in their order. */
  readonly insertsAtOnce?: number;
  // ── life ──────────────────────────────────────────────────────────────────────────────────────

  /** Connects and brings the schema up to date. May be called again; other verbs need it first. */
  open(): Promise<void>;
  /** Lets calls in flight finish, then lets go of everything. May be called again. */
  close(): Promise<void>;
  info(): StoreInfo;
  /** The store's clock, in milliseconds. */
  now(): Promise<number>;
  /**
   * Hints that there may be work, or that a job has finished. May be early, late, doubled or lost:
   * polling is the truth. Returns the way to stop listening.
   */
  onWakeup(listener: (wakeup: Wakeup) => void): () => void;

  // ── a job's way ───────────────────────────────────────────────────────────────────────────────

  /**
   * Stores new jobs, each atomically. Keys are decided inside, also between the items of one call:
   * an earlier item wins. A repeated id is a `duplicate`, also after the job finished and was
   * deleted (for `info().remembersMs`). The scope of a key is its queue. A duplicate is one also if
   * the queue is full.
   */
  insert(jobs: readonly NewJob[], options?: InsertOptions): Promise<InsertResult[]>;
  /**
   * Stores whole jobs from elsewhere, as they are. Ignores `maxWaiting`. The lifetime of a key counts
   * from `createdAt`; a finished job takes no `until-finished` key.
   */
  adopt(jobs: readonly AdoptedJob[]): Promise<InsertResult[]>;
  /**
   * Hands out ready jobs: `attempts` + 1 (never beyond `maxAttempts`, see `exhausted`), fence =
   * max(last + 1, clock in µs). Fair between the given queues and between the lines of each, by
   * weight. Holds and caps are exact, whoever else calls. Due delayed jobs are found here, in their
   * place in line. May return fewer than asked while work remains, never none for ever.
   */
  lease(request: LeaseRequest): Promise<LeaseReply>;
  /**
   * Extends leases by `leaseMs` from now. A lease that ran out but was not reaped is still its
   * holder's. What rides along is written under the same fence, or not at all.
   */
  renew(renewals: readonly Renewal[], leaseMs: number): Promise<RenewResult[]>;
  /**
   * Ends attempts. Outcome, spawned jobs and ledger entries are one step, all or none. Repeating a
   * job's last settle changes nothing and answers `settled`, also when a later attempt has begun or
   * the job is gone (for `info().remembersMs`). Spawned jobs ignore `maxWaiting`; one that is a
   * duplicate or a conflict is dropped and noted in its parent's log. The outcome comes before the
   * spawned jobs: a child may take the `until-finished` key its parent just freed. A job that an open
   * transaction of a caller has may be answered `busy`: it keeps no other of the call waiting.
   */
  settle(settlements: readonly Settlement[]): Promise<SettleResult[]>;
  /**
   * Puts up to `limit` expired leases back to their places in line: `crashes` + 1, the attempt stays
   * spent, the fence moves on; a job whose cancellation was asked for ends `cancelled`. Repeats its
   * whole condition when it writes. Kills nothing.
   *
   * Not charged, but put back as if released: a job that had crashed before and whose holder did not say
   * that it starts (`Renewal.starts`), and one whose worker has disowned it.
   *
   * A `limit` of 0 puts nothing back. A store of several servers then asks each of those that a reaping would
   * ask, and fails if one does not answer.
   */
  reap(request: { readonly limit: number }): Promise<ReapedJob[]>;
  /**
   * After a reply of `lease` that got lost: whatever is leased under this id besides `except` goes back to
   * its place in line at once, as if released: attempt and crash not charged, the fence moved on. Answers
   * how many. The id is remembered for an hour, so that a lease that arrives late is not charged by `reap`
   * either; what is in `except` is. Again, it replaces what was said before.
   */
  disown(request: DisownRequest): Promise<number>;

  // ── an operator's hand ────────────────────────────────────────────────────────────────────────

  /**
   * Queued: `done`, at once. Processing: `asked`, its holder hears of it by `renew`. One that is
   * cancelled already: `done`, and nothing changes.
   */
  cancel(target: Target, why: Why): Promise<Changes>;
  /**
   * Dead and cancelled jobs only: queued again, same id, history and fence; crashes and deferrals
   * start from 0, `maxAttempts` becomes attempts + `attempts`. A new payload clears checkpoint and
   * steps and moves the key's hash. An `until-finished` key is taken again if it is free; if another
   * job has it, the revived one runs without and never frees it.
   */
  revive(target: Target, how: Revival, why: Why): Promise<Changes>;
  /** Queued jobs only: due at another time, same place in line. */
  reschedule(target: Target, due: Due, why: Why): Promise<Changes>;
  /** Any job that is not processing. Frees its key. */
  remove(target: Target, why: Why): Promise<Changes>;
  /**
   * Deletes at most `limit` finished jobs that are past any of the policies, oldest first. A policy
   * of `queue: null` is for the queues that have none of their own for that status. Also the moment
   * at which a store clears what it remembers of deleted jobs, expired keys and expired records, and
   * forgets queues without jobs or settings an hour after their last use. Costs no more for thousands of
   * queues that have nothing to prune.
   */
  prune(policies: readonly Retention[], limit: number): Promise<number>;

  // ── looking ───────────────────────────────────────────────────────────────────────────────────

  /** `pruned`: there was such a job, and it is remembered. */
  get(refs: readonly JobRef[]): Promise<(StoredJob | "pruned" | null)[]>;
  /** How many ready jobs are before it in its line, counted to `COUNTED_TO`; null if not ready. */
  place(ref: JobRef): Promise<number | null>;
  /**
   * Stable under change. A page is full, however many other jobs are newer, of: dead and cancelled jobs by
   * any filter, processing ones by worker and queue, queued ones by queue and group, succeeded ones by queue
   * and time, all of a queue. Any other filter does a bounded step per call, so its page may be short (even
   * empty) and have a cursor.
   */
  find(filter: JobFilter, page: PageRequest): Promise<JobPage>;
  /**
   * Every queue that has or had jobs or settings, by name; one that was only asked for may be among
   * them. `prune` forgets those that have neither and were not used for an hour. Cheap at a million jobs.
   */
  count(): Promise<QueueCounts[]>;
  /** Dead jobs that are alike, most first, equal counts by key. Cheap at 100 thousand dead jobs. */
  countDead(request: DeadCountRequest): Promise<DeadCount[]>;

  // ── lines ─────────────────────────────────────────────────────────────────────────────────────

  /** Holds or releases; in force for every `lease` that begins after the reply. */
  hold(changes: readonly HoldChange[]): Promise<void>;
  /** Patches caps, weights and bounds; in force for every call that begins after the reply. */
  limit(changes: readonly LimitChange[]): Promise<void>;
  /**
   * The lines of a queue that have waiting or active jobs, holds in force or settings, by group. Like
   * every verb with a cursor, throws `InvalidCursorError` for one that is not its own.
   */
  lines(queue: string, page: LinesRequest): Promise<LinesPage>;

  readonly outbox: Outbox;
  readonly ledger: Ledger;
  readonly records: Records;

  /**
   * `insert` and `settle` inside the caller's own transaction; absent where `info().transactions`
   * is false. Throws `NotInTransactionError` if `tx` is not a transaction of this store's database.
   */
  within?(tx: unknown): WithinTransaction;
}

export interface StoreInfo {
  readonly name: string;
  /** Of the database and its driver, for people. */
  readonly version: string;
  /** What an acknowledgement survives. */
  readonly survives: {
    readonly processKill: boolean;
    readonly powerLoss: boolean;
    readonly failover: boolean;
  };
  /** `within(tx)` is there. */
  readonly transactions: boolean;
  /** An open caller's transaction keeps every other writer of the database waiting. */
  readonly transactionBlocksWriters: boolean;
  /**
   * A job that an open caller's transaction has can be renewed, and no call waits for it. So its lease lasts
   * if the server loses the transaction. Absent: it is not renewed until the transaction has ended.
   */
  readonly renewsInTransactions?: boolean;
  /** Its jobs lie on several servers, and each of those can be out of reach alone. Absent: on one. */
  readonly hasSeveralServers?: boolean;
  readonly wakeups: "process" | "processes";
  readonly counts: "exact" | "approximate";
  /** Is one `insert` call all or none, or each job for itself? */
  readonly insertAtomic: "call" | "job";
  /** Are jobs spawned into other queues stored with the settle, or relayed through the outbox? */
  readonly spawnsElsewhere: "atomic" | "relayed";
  /** How long ids and settled fences are remembered after a job is deleted; at least an hour. */
  readonly remembersMs: number;
  /** Of a store that keeps its jobs in memory: what the server uses, as it was when last looked at. */
  readonly usedMemoryBytes?: number | null;
  /** What it may use at most. Null or 0: no bound. */
  readonly maxMemoryBytes?: number | null;
  /** What is wrong with the place where the jobs are; said at the start of every process. */
  readonly warnings?: readonly string[];
}

export interface Wakeup {
  /** There may be ready jobs in these, now or within `WAKE_AHEAD_MS`. */
  readonly queues: readonly string[];
  /** These jobs have finished. */
  readonly finished: readonly string[];
  /** So many jobs became ready at most, by inserts or retries. Absent: any number. */
  readonly added?: number;
  /** From 0 to 1, drawn by the sender: the same for everybody who hears this wakeup. */
  readonly lot?: number;
}

/** What must still be carried elsewhere. Relaying twice changes nothing. */
export type OutboxItem =
  | { readonly id: string; readonly kind: "jobs"; readonly jobs: readonly NewJob[] }
  | { readonly id: string; readonly kind: "entries"; readonly entries: readonly LedgerEntry[] };

export interface Outbox {
  /** Oldest first. */
  read(limit: number): Promise<OutboxItem[]>;
  clear(ids: readonly string[]): Promise<void>;
}

export interface WithinTransaction {
  insert(jobs: readonly NewJob[], options?: InsertOptions): Promise<InsertResult[]>;
  settle(settlements: readonly Settlement[]): Promise<SettleResult[]>;
  /**
   * As `Store.get`, on the caller's connection. Of stores with a pool of connections: if every one has a
   * caller's transaction open, a look over another would wait for one of them to end.
   */
  get?(refs: readonly JobRef[]): Promise<(StoredJob | "pruned" | null)[]>;
  /** Is the caller's transaction still open? */
  isOpen(): boolean;
}
