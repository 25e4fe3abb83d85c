/**
 * One transaction of a caller, told apart from those before and after it on the same connection.
 *
 * SQLite gives a transaction no name, so we give it one: the store's clock, moved on by at least a
 * microsecond inside of it. While it is open its own connection sees that instant, and nobody else does.
 * Once it has committed, everybody sees it. Once it was rolled back, its own connection does not. So a
 * transaction that ended stays ended, also if another was begun before anybody looked.
 *
 * Moving the clock takes the write lock, which whoever calls `within` is about to need. If somebody else
 * has that lock, the transaction goes without a name until its first write through us.
 *
 * The limits: on the store's own connection, and without a name, a commit that is followed by the next
 * BEGIN in one turn of the event loop goes unseen. What a savepoint began ends with ROLLBACK TO it.
 */
import type { Clock } from "./clock.ts";
import type { Connection } from "./connection.ts";

const CLOCK = "SELECT clock FROM holdfast_head WHERE one = 1";
const MOVE_CLOCK = `
  UPDATE holdfast_head SET clock = max(clock + 1, ?) WHERE one = 1 RETURNING clock`;

/** The transaction that was last seen open on a connection. */
const current = new WeakMap<Connection, CallersTransaction>();

export interface CallersTransactionOptions {
  /** The store's own connection, which may be the caller's. */
  readonly own: Connection;
  readonly clock: Clock;
}

export class CallersTransaction {
  readonly #connection: Connection;
  readonly #options: CallersTransactionOptions;
  readonly #timesOutside: number;
  #name: number | null = null;
  #hasEnded = false;

  /** Null: the connection is not inside a transaction. All calls of one transaction answer the same. */
  static on(connection: Connection, options: CallersTransactionOptions): CallersTransaction | null {
    const known = current.get(connection);
    if (known !== undefined && known.#options.own === options.own && known.isOpen()) return known;
    const begun = new CallersTransaction(connection, options);
    if (!begun.isOpen()) return null;
    begun.giveName();
    current.set(connection, begun);
    return begun;
  }

  private constructor(connection: Connection, options: CallersTransactionOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#timesOutside = connection.timesOutside;
  }

  /** Never throws: a connection that is closed has ended its transaction. */
  isOpen(): boolean {
    this.#hasEnded ||= this.#isSeenToHaveEnded();
    return !this.#hasEnded;
  }

  /** At once or not at all: waiting for the lock is for the write that needs it. */
  giveName(): void {
    if (this.#name !== null) return;
    const { clock } = this.#options;
    this.#name = attempt(this.#connection, (db) => db.value(MOVE_CLOCK, clock.micros()));
  }

  #isSeenToHaveEnded(): boolean {
    const connection = this.#connection;
    try {
      if (!connection.isInTransaction()) return true;
    } catch {
      return true;
    }
    if (connection.timesOutside !== this.#timesOutside) return true;
    if (this.#name === null) return false;
    // What cannot be read tells nothing.
    const seenInside = attempt(connection, (db) => db.value(CLOCK)) ?? Infinity;
    if (seenInside < this.#name) return true;
    const { own } = this.#options;
    if (own === connection) return false;
    const seenByAll = attempt(own, (db) => db.value(CLOCK)) ?? -Infinity;
    return seenByAll >= this.#name;
  }
}

function attempt(connection: Connection, read: (db: Connection) => unknown): number | null {
  try {
    return Number(connection.withoutWaiting(() => read(connection)));
  } catch {
    return null;
  }
}
