/**
 * Natural batching: the heart of this store's speed.
 *
 * Every writing verb is a unit of synchronous work. Units that are called close together run in one
 * `BEGIN IMMEDIATE` transaction, and each promise resolves only after the commit of its own
 * transaction, so an acknowledgement means what it says and a hundred callers share one fsync.
 *
 *     idle ──submit──▶ gathering (setImmediate) ──▶ commit ──more?──▶ gathering
 *                            ▲                          │
 *                            └──── ~1 ms, async ◀──busy─┘
 *
 * - `setImmediate` and not a microtask: it lets everything that arrived with this turn of the event
 *   loop join: with 64 socket clients that was nearly ten times as many inserts a second.
 * - At most some 600 jobs a transaction, then the event loop gets its turn: some five milliseconds.
 * - If one unit throws, the transaction is rolled back, and those before it, the guilty one and those behind
 *   it run again, each part in a transaction of its own: so only the guilty one fails, and it costs two
 *   commits more, not one for each. If the commit itself fails nobody is known to be guilty, and all run one
 *   by one. A unit must therefore have no effect outside its transaction.
 * - SQLite's own `busy_timeout` blocks the event loop and starves other processes. It is 0 here; a
 *   busy database is tried again about every millisecond, until a unit has waited `busyDeadlineMs`.
 * - After a burst of commits a process that knows of others waiting lets go for a moment, or they
 *   would find the lock taken every time they look.
 */
import { ClosedError, StoreUnavailableError } from "../../core/errors.ts";
import type { Connection } from "./connection.ts";
import { Memory } from "./known.ts";
import { isBusy, storeError } from "./sqlite-error.ts";
import { Transaction, type TransactionSettings } from "./transaction.ts";

/** What fits into one transaction without keeping the event loop for long. */
const TRANSACTION_JOBS = 625;
const BURST_MS = 4;
const PAUSE_MS = 2;
/** How long ago somebody else's wish to write still counts. */
const CONTENTION_MS = 100;

interface Unit {
  /** Roughly, in jobs. */
  readonly size: number;
  readonly run: (tx: Transaction) => unknown;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly since: number;
  readonly upkeep: Upkeep<unknown> | undefined;
}

/** Work that nobody waits for, and that another process or a later moment does as well. */
export interface Upkeep<T> {
  /** What is answered if it was given up. */
  readonly otherwise: T;
}

export interface CommitterOptions extends TransactionSettings {
  readonly connection: Connection;
  readonly busyDeadlineMs: number;
  /** After a commit: wakeups, and the checkpoint that waits for quiet. */
  readonly onCommit: (tx: Transaction) => void;
  /** Somebody else has the write lock. */
  readonly onBusy: () => void;
}

export class Committer {
  readonly #options: CommitterOptions;
  readonly #memory: Memory;
  #units: Unit[] = [];
  #isScheduled = false;
  #isClosed = false;
  #burstSince: number | null = null;
  #busyTries = 0;
  #contendedAt = -Infinity;
  #onIdle: (() => void)[] = [];

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#memory = new Memory(options.connection);
  }

  /** Nothing waits to be written. */
  get isIdle(): boolean {
    return this.#units.length === 0;
  }

  submit<T>(size: number, run: (tx: Transaction) => T, upkeep?: Upkeep<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new ClosedError("the SQLite store is closed"));
    return new Promise((resolve, reject) => {
      const since = performance.now();
      this.#units.push({ size, run, resolve: resolve as Unit["resolve"], reject, since, upkeep });
      this.#schedule(0);
    });
  }

  /** Another process says that it waits for the write lock. */
  peerWaits(): void {
    this.#contendedAt = performance.now();
  }

  /**
   * Takes no more; resolves when everything that was submitted is committed or refused. While somebody else
   * has the write lock (a VACUUM of a large file has it for minutes) that is within `busyDeadlineMs`, and
   * at once if only upkeep is left.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (!this.isIdle) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #schedule(ms: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const flush = (): void => {
      this.#isScheduled = false;
      this.#flush();
    };
    // A timer that keeps the process alive on purpose: somebody awaits this write.
    if (ms === 0) setImmediate(flush);
    else setTimeout(flush, ms);
  }

  #flush(): void {
    const { connection } = this.#options;
    let begun: boolean;
    try {
      begun = connection.tryBegin();
    } catch (error) {
      for (const unit of this.#takeBatch()) this.#fail(unit, error, { mayHaveHappened: false });
      this.#next();
      return;
    }
    if (!begun) {
      this.#wait();
      return;
    }
    this.#busyTries = 0;
    this.#burstSince ??= performance.now();
    const batch = this.#takeBatch();
    const verdict = this.#commit(batch);
    if (verdict === "busy") {
      this.#wait();
      return;
    }
    this.#commitApart(verdict);
    this.#next();
  }

  /** Answers the parts that must be tried again apart, or `busy`: again later. Then it was rolled back. */
  #commit(batch: readonly Unit[]): readonly (readonly Unit[])[] | "busy" {
    const { connection } = this.#options;
    let tx: Transaction;
    const answers: unknown[] = [];
    let mayHaveHappened = false;
    try {
      tx = new Transaction(connection, this.#options, this.#memory.recall());
      for (const unit of batch) answers.push(unit.run(tx));
      tx.flush();
      mayHaveHappened = true;
      connection.commit();
    } catch (error) {
      connection.rollback();
      this.#memory.forget();
      if (isBusy(error)) {
        // Only outside WAL mode, on a caller's connection: a reader kept the commit from finishing.
        this.#units.unshift(...batch);
        return "busy";
      }
      if (batch.length > 1) return partsOf(batch, answers.length);
      for (const unit of batch) this.#fail(unit, error, { mayHaveHappened });
      return [];
    }
    this.#memory.remember(tx.known);
    for (let index = 0; index < batch.length; index++) batch[index]?.resolve(answers[index]);
    this.#options.onCommit(tx);
    return [];
  }

  /** A part that meets a busy database goes back among those that wait. */
  #commitApart(parts: readonly (readonly Unit[])[]): void {
    for (const part of parts) {
      try {
        if (!this.#options.connection.tryBegin()) {
          this.#units.push(...part);
          continue;
        }
      } catch (error) {
        for (const unit of part) this.#fail(unit, error, { mayHaveHappened: false });
        continue;
      }
      const verdict = this.#commit(part);
      if (verdict !== "busy") this.#commitApart(verdict);
    }
  }

  #takeBatch(): Unit[] {
    let size = 0;
    let count = 0;
    for (const unit of this.#units) {
      if (count > 0 && size + unit.size > TRANSACTION_JOBS) break;
      size += unit.size;
      count++;
    }
    return this.#units.splice(0, count);
  }

  #next(): void {
    if (this.isIdle) {
      this.#burstSince = null;
      for (const resolve of this.#onIdle.splice(0)) resolve();
      return;
    }
    const now = performance.now();
    const isContended = now - this.#contendedAt < CONTENTION_MS;
    if (isContended && this.#burstSince !== null && now - this.#burstSince > BURST_MS) {
      this.#burstSince = null;
      this.#schedule(PAUSE_MS);
    } else {
      this.#schedule(0);
    }
  }

  /** The lock is taken: gives up on those that have waited too long, and tries again for the rest. */
  #wait(): void {
    const now = performance.now();
    const { busyDeadlineMs, onBusy } = this.#options;
    this.#contendedAt = now;
    this.#burstSince = null;
    const late = (unit: Unit): boolean => now - unit.since >= busyDeadlineMs;
    for (const unit of this.#units.filter(late)) {
      const message = `another connection has held the database's write lock for ${busyDeadlineMs} ms: commit long transactions sooner, or raise busyDeadlineMs`;
      unit.reject(new StoreUnavailableError(message, { mayHaveHappened: false }));
    }
    this.#units = this.#units.filter((unit) => !late(unit));
    if (this.#isClosed) this.#giveUpkeepUp();
    if (this.isIdle) {
      this.#next();
      return;
    }
    this.#busyTries++;
    onBusy();
    // Somebody who has waited long looks less often: a transaction of seconds is not in a hurry.
    this.#schedule(this.#busyTries < 100 ? 1 + Math.random() : 4 + 2 * Math.random());
  }

  #giveUpkeepUp(): void {
    this.#units = this.#units.filter(({ upkeep, resolve }) => {
      if (upkeep !== undefined) resolve(upkeep.otherwise);
      return upkeep === undefined;
    });
  }

  #fail(unit: Unit, error: unknown, { mayHaveHappened }: { mayHaveHappened: boolean }): void {
    unit.reject(storeError(error, { mayHaveHappened }));
  }
}

/** `done`: how many had run when it failed. All: it was not their fault, or nobody knows whose. */
function partsOf(batch: readonly Unit[], done: number): readonly (readonly Unit[])[] {
  if (done === batch.length) return batch.map((unit) => [unit]);
  const parts = [batch.slice(0, done), batch.slice(done, done + 1), batch.slice(done + 1)];
  return parts.filter((part) => part.length > 0);
}
