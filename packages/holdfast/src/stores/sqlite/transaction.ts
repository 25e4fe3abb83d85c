/**
 * One write transaction, seen by the verbs: the instant at which it happens, the queues and lines it
 * has touched, the numbers it gives out, and the wakeups it owes once it has committed.
 *
 * Several calls may share one (see `committer.ts`). It is begun, flushed and committed by whoever
 * owns the connection: the committer, or for `within(tx)` the caller.
 */
import { msOf, type Clock } from "./clock.ts";
import type { Connection } from "./connection.ts";
import { FreshJobs } from "./fresh-jobs.ts";
import { Known } from "./known.ts";
import type { LineBook } from "./line-book.ts";
import type { QueueBook } from "./queue-book.ts";
import type { WorkerBook } from "./worker-book.ts";

export interface TransactionSettings {
  readonly clock: Clock;
  readonly remembersMs: number;
}

export class Transaction {
  readonly db: Connection;
  readonly remembersMs: number;
  /** Milliseconds. Everything a transaction does happens at one instant. */
  readonly now: number;
  readonly micros: number;
  /** What it read and changed; good for the next one if nobody else writes between. */
  readonly known: Known;
  readonly queues: QueueBook;
  readonly lines: LineBook;
  readonly workers: WorkerBook;
  readonly fresh: FreshJobs;
  /** Queues that may have ready jobs, and jobs that have finished: said once it is committed. */
  readonly wokenQueues = new Set<string>();
  /** Jobs were inserted into them and are ready. */
  readonly filledQueues = new Set<string>();
  /** Something in them will be due within `WAKE_AHEAD_MS`. */
  readonly dueSoonQueues = new Set<string>();
  readonly finishedJobs: string[] = [];
  readonly #clock: Clock;

  constructor(db: Connection, { clock, remembersMs }: TransactionSettings, known?: Known) {
    this.db = db;
    this.remembersMs = remembersMs;
    this.known = known ?? new Known(db);
    this.queues = this.known.queues;
    this.lines = this.known.lines;
    this.workers = this.known.workers;
    this.fresh = new FreshJobs(db);
    this.#clock = clock;
    this.micros = clock.micros(this.known);
    this.now = msOf(this.micros);
  }

  /** max(last + 1, clock in µs). `lease` computes the same in SQL. */
  fenceAfter(last: number): number {
    return Math.max(last + 1, this.micros);
  }

  nextRecordVersion(): number {
    this.known.recordVersion = this.fenceAfter(this.known.recordVersion);
    return this.known.recordVersion;
  }

  /**
   * Could a deleted job have had this id? Ids begin with their time, so a new one is nearly always
   * newer than all that are remembered.
   */
  mayBeGone(id: string): boolean {
    const { newestGone } = this.known;
    return newestGone !== null && id <= newestGone;
  }

  /** A job of this id was deleted just now. */
  noteGone(id: string): void {
    const { newestGone } = this.known;
    if (newestGone === null || id > newestGone) this.known.newestGone = id;
  }

  /**
   * Not the queues whose ready jobs a lease of the same transaction took. `added`: how many jobs are ready,
   * if all of them were inserted here.
   */
  hints(): { readonly queues: readonly string[]; readonly added: number | undefined } {
    const others = new Set(this.dueSoonQueues);
    for (const name of this.wokenQueues) if (this.#hasReady(name)) others.add(name);
    const queues = new Set(others);
    for (const name of this.filledQueues) if (this.#hasReady(name)) queues.add(name);
    return { queues: [...queues], added: others.size === 0 ? this.fresh.untaken : undefined };
  }

  #hasReady(name: string): boolean {
    return (this.queues.find(name)?.counts.ready ?? 0) > 0;
  }

  /** Writes what was gathered. Before the commit, and before a caller's transaction gets control back. */
  flush(): void {
    this.fresh.flush();
    this.known.flush({ clock: this.micros, anchor: this.#clock.anchor });
  }
}
