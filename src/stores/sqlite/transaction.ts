/**
 * One write transaction, seen by the verbs: the instant at which it happens, the queues and lines it
 * has touched, the numbers it gives out, and the wakeups it owes once it has committed.
 *
 * Several calls may share one (see `committer.ts`). It is begun, flushed and committed by whoever
 * owns the connection: the committer, or for `within(tx)` the caller.
 */
import { msOf, type Clock } from "./clock.ts";
import type { Connection } from "./connection.ts";
import { LineBook } from "./line-book.ts";
import { QueueBook } from "./queue-book.ts";

const HEAD = "SELECT seq, clock, record_version FROM holdfast_head WHERE one = 1";
const WRITE_HEAD = "UPDATE holdfast_head SET seq = ?, clock = ?, record_version = ? WHERE one = 1";

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
  readonly queues: QueueBook;
  readonly lines: LineBook;
  /** Queues that may have ready jobs, and jobs that have finished: said once it is committed. */
  readonly wokenQueues = new Set<string>();
  readonly finishedJobs: string[] = [];
  #seq: number;
  #recordVersion: number;
  #newestGone: string | null | undefined;

  constructor(db: Connection, { clock, remembersMs }: TransactionSettings) {
    const head = db.rows<[number, number, number]>(HEAD).get();
    if (head === undefined) throw new Error("holdfast_head has lost its row");
    const [seq, seen, recordVersion] = head;
    this.db = db;
    this.remembersMs = remembersMs;
    this.micros = clock.micros(seen);
    this.now = msOf(this.micros);
    this.#seq = seq;
    this.#recordVersion = recordVersion;
    this.queues = new QueueBook(db);
    this.lines = new LineBook(db, this.queues, () => this.nextSeq());
  }

  /** Grows by 1 and is never given twice, also not after the job of a number is deleted. */
  nextSeq(): number {
    return ++this.#seq;
  }

  /** Gives a number back that was not used after all. Only the last one. */
  returnSeq(): void {
    this.#seq--;
  }

  /** max(last + 1, clock in µs). `lease` computes the same in SQL. */
  fenceAfter(last: number): number {
    return Math.max(last + 1, this.micros);
  }

  nextRecordVersion(): number {
    this.#recordVersion = this.fenceAfter(this.#recordVersion);
    return this.#recordVersion;
  }

  /**
   * Could a deleted job have had this id? Ids begin with their time, so a new one is nearly always
   * newer than all that are remembered, and one look per transaction answers for all its inserts.
   */
  mayBeGone(id: string): boolean {
    if (this.#newestGone === undefined) {
      this.#newestGone = this.db.value("SELECT max(id) FROM holdfast_gone") as string | null;
    }
    return this.#newestGone !== null && id <= this.#newestGone;
  }

  /** A job of this id was deleted just now. */
  noteGone(id: string): void {
    const newest = this.#newestGone;
    if (newest !== undefined && (newest === null || id > newest)) this.#newestGone = id;
  }

  /** Writes what was gathered. Before the commit, and before a caller's transaction gets control back. */
  flush(): void {
    this.lines.flush();
    this.queues.flush();
    this.db.run(WRITE_HEAD, this.#seq, this.micros, this.#recordVersion);
  }
}
