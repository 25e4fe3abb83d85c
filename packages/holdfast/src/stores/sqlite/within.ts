/**
 * `insert` and `settle` inside the caller's own transaction, on the caller's own connection: what is
 * written there exists exactly if the caller commits.
 *
 * While such a transaction is open it is the only writer of the file; every other write waits. It
 * should begin with BEGIN IMMEDIATE: one that begins with a read and writes later fails at once if
 * anybody else has written meanwhile, and no waiting helps.
 */
import { NotInTransactionError } from "../../core/errors.ts";
import type { WithinTransaction } from "../../core/store.ts";
import { CallersTransaction } from "./callers-transaction.ts";
import { Connection } from "./connection.ts";
import { isDatabaseLike, type DatabaseLike } from "./database-like.ts";
import { insert } from "./insert.ts";
import { settle } from "./settle.ts";
import { storeError } from "./sqlite-error.ts";
import { Transaction, type TransactionSettings } from "./transaction.ts";

export interface WithinOptions extends TransactionSettings {
  /** The store's own connection, which may be the caller's. */
  readonly own: Connection;
  /** Real path of the store's file; null in memory. */
  readonly path: string | null;
  readonly realPath: (path: string) => string;
  /** What the transaction owes to those who listen, once it has ended. */
  readonly onEnded: (
    queues: readonly string[],
    finished: readonly string[],
    added: number | undefined,
  ) => void;
  /** Throws if the store is not open. */
  readonly mustBeOpen: () => void;
}

/** Prepared statements are kept with the caller's connection, as long as that lives. */
const connections = new WeakMap<DatabaseLike, Connection>();

export function within(tx: unknown, options: WithinOptions): WithinTransaction {
  const connection = connectionOf(tx, options);
  const theirs = transactionOn(connection, options);
  const watch = new EndWatch(theirs, options.onEnded);

  function run<T>(work: (tx: Transaction) => T): T {
    options.mustBeOpen();
    if (!theirs.isOpen()) throw notInTransaction("has ended: begin another");
    theirs.giveName();
    // One call is all or none, also if the caller catches its error and commits the rest.
    connection.database.exec("SAVEPOINT holdfast_within");
    try {
      const transaction = new Transaction(connection, options);
      const answer = work(transaction);
      transaction.flush();
      connection.database.exec("RELEASE holdfast_within");
      watch.add(transaction);
      return answer;
    } catch (error) {
      undo(connection);
      throw storeError(error, { mayHaveHappened: false });
    }
  }

  return {
    async insert(jobs, insertOptions) {
      return jobs.length === 0 ? [] : run((inner) => insert(inner, jobs, insertOptions));
    },
    async settle(settlements) {
      return settlements.length === 0 ? [] : run((inner) => settle(inner, settlements));
    },
    isOpen: () => theirs.isOpen(),
  };
}

function connectionOf(tx: unknown, { own, path, realPath }: WithinOptions): Connection {
  if (!isDatabaseLike(tx)) {
    throw notInTransaction("is not a node:sqlite or better-sqlite3 database");
  }
  if (tx === own.database) return own;
  const known = connections.get(tx) ?? new Connection(tx);
  connections.set(tx, known);
  const theirs = known.path();
  if (path === null || theirs === null || realPath(theirs) !== path) {
    throw notInTransaction("is connected to another database than this store");
  }
  return known;
}

function transactionOn(connection: Connection, options: WithinOptions): CallersTransaction {
  const open = CallersTransaction.on(connection, options);
  if (open === null) throw notInTransaction("is not inside a transaction: begin one first");
  return open;
}

function notInTransaction(what: string): NotInTransactionError {
  return new NotInTransactionError(`within(tx) was given a tx that ${what}`);
}

function undo(connection: Connection): void {
  try {
    connection.database.exec("ROLLBACK TO holdfast_within");
    connection.database.exec("RELEASE holdfast_within");
  } catch {
    // The whole transaction is rolled back already (a full disk does that).
  }
}

/** Looks at a transaction of the caller's follow each other after this part of the time it is open. */
const LOOK_AGAIN_AFTER = 0.1;
const LOOK_AT_LEAST_EVERY_MS = 1_000;
/** Then it is left to the poll. */
const WATCHED_FOR_MS = 600_000;

/** Nobody tells us when the caller commits, so we look: soon, and then less and less often. */
class EndWatch {
  readonly #theirs: CallersTransaction;
  readonly #onEnded: WithinOptions["onEnded"];
  readonly #queues = new Set<string>();
  readonly #finished: string[] = [];
  /** How many jobs were inserted; NaN once something else may have made jobs ready. */
  #added = 0;
  #isWatching = false;

  constructor(theirs: CallersTransaction, onEnded: WithinOptions["onEnded"]) {
    this.#theirs = theirs;
    this.#onEnded = onEnded;
  }

  add(tx: Transaction): void {
    const { queues, added = NaN } = tx.hints();
    for (const queue of queues) this.#queues.add(queue);
    if (queues.length > 0) this.#added += added;
    this.#finished.push(...tx.finishedJobs);
    if (this.#isWatching || this.#queues.size + this.#finished.length === 0) return;
    this.#isWatching = true;
    const since = performance.now();
    setImmediate(() => this.#look(since, 0));
  }

  #look(since: number, looks: number): void {
    if (!this.#theirs.isOpen()) {
      this.#isWatching = false;
      const added = this.#added > 0 ? this.#added : undefined;
      this.#onEnded([...this.#queues], [...this.#finished], added);
      this.#queues.clear();
      this.#finished.length = 0;
      this.#added = 0;
      return;
    }
    if (looks < 10) {
      setImmediate(() => this.#look(since, looks + 1));
      return;
    }
    const openMs = performance.now() - since;
    const waitMs = Math.max(5, Math.min(LOOK_AT_LEAST_EVERY_MS, LOOK_AGAIN_AFTER * openMs));
    if (openMs > WATCHED_FOR_MS) this.#isWatching = false;
    else setTimeout(() => this.#look(since, looks + 1), waitMs).unref();
  }
}
