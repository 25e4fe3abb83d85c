/**
 * One connection to the database, with its prepared statements. The store has its own; `within(tx)`
 * makes one around the caller's.
 *
 * A trap for whoever writes SQL here: SQLite plans a statement with `LIMIT ?` anew for every value it is
 * given, which costs more than running it. `LIMIT ? + 0` is planned once.
 *
 * A transaction of ours begins and ends in one turn of the event loop. So whenever code of ours
 * starts, a transaction that is open on this connection is the caller's, not ours.
 */
import type { DatabaseLike, SqlValue, StatementLike } from "./database-like.ts";
import { isAlreadyInTransaction, isBusy } from "./sqlite-error.ts";

/** A statement that is run for its effect, and says nothing. */
export interface SilentStatement {
  get(...values: SqlValue[]): unknown;
}

/** A statement whose rows come as arrays: a third cheaper than objects, which lease and settle feel. */
export interface RowStatement<Row> {
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
}

export class Connection {
  readonly database: DatabaseLike;
  /** The caller's: its settings are left as they are. */
  readonly isBorrowed: boolean;
  readonly #writes = new Map<string, StatementLike>();
  readonly #silent = new Map<string, SilentStatement>();
  readonly #rows = new Map<string, RowStatement<unknown>>();
  readonly #objects = new Map<string, RowStatement<unknown>>();
  #timesOutside = 0;

  constructor(database: DatabaseLike, { isBorrowed = true } = {}) {
    this.database = database;
    this.isBorrowed = isBorrowed;
  }

  /** A statement that answers no rows. */
  run(sql: string, ...values: SqlValue[]): number {
    return Number(this.write(sql).run(...values).changes);
  }

  write(sql: string): StatementLike {
    let statement = this.#writes.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare(sql);
      this.#writes.set(sql, statement);
    }
    return statement;
  }

  /**
   * For statements that run for every job. `run` of `node:sqlite` makes an object to say how many rows
   * were changed, which costs a quarter of a small delete; `get` makes none. better-sqlite3 refuses
   * `get` where there is nothing to get.
   */
  silent(sql: string): SilentStatement {
    let statement = this.#silent.get(sql);
    if (statement === undefined) {
      const prepared = this.write(sql);
      const hasRaw = prepared.raw !== undefined;
      statement = hasRaw ? { get: (...values) => prepared.run(...values) } : prepared;
      this.#silent.set(sql, statement);
    }
    return statement;
  }

  /** Rows as arrays, in the order of the columns. */
  rows<Row extends readonly unknown[]>(sql: string): RowStatement<Row> {
    let statement = this.#rows.get(sql);
    if (statement === undefined) {
      statement = asRows(prepareSelect(this.database, sql));
      this.#rows.set(sql, statement);
    }
    return statement as RowStatement<Row>;
  }

  /** Rows as objects, for what is long or seldom read. */
  objects<Row extends object>(sql: string): RowStatement<Row> {
    let statement = this.#objects.get(sql);
    if (statement === undefined) {
      const prepared = prepareSelect(this.database, sql);
      // The caller's connection may be set to answer arrays.
      prepared.setReturnArrays?.(false);
      statement = prepared as RowStatement<unknown>;
      this.#objects.set(sql, statement);
    }
    return statement as RowStatement<Row>;
  }

  /** How often it was seen outside of a transaction of the caller's: what was open before has ended. */
  get timesOutside(): number {
    return this.#timesOutside;
  }

  isInTransaction(): boolean {
    const isInside = this.#asksWhetherInside();
    if (!isInside) this.#timesOutside++;
    return isInside;
  }

  #asksWhetherInside(): boolean {
    const { isTransaction, inTransaction } = this.database;
    const known = isTransaction ?? inTransaction;
    if (known !== undefined) return known;
    // Node before 22.16 does not say. A BEGIN fails inside a transaction and harms nothing.
    try {
      this.database.exec("BEGIN");
    } catch (error) {
      if (isAlreadyInTransaction(error)) return true;
      throw error;
    }
    this.database.exec("ROLLBACK");
    return false;
  }

  /** False: somebody else has the write lock, or the caller has a transaction open on this connection. */
  tryBegin(): boolean {
    const { isTransaction, inTransaction } = this.database;
    if (isTransaction ?? inTransaction) {
      if (this.isBorrowed) return false;
      // Ours, and it could not be rolled back when it failed.
      this.rollback();
    }
    try {
      this.withoutWaiting(() => this.silent("BEGIN IMMEDIATE").get());
      this.#timesOutside++;
      return true;
    } catch (error) {
      if (isBusy(error) || isAlreadyInTransaction(error)) return false;
      throw error;
    }
  }

  /** All of its reads see one moment: a job that another process moves between two of them would be in neither. */
  inOneMoment<T>(work: () => T): T {
    const { isTransaction, inTransaction } = this.database;
    if (isTransaction ?? inTransaction) return work();
    try {
      this.silent("BEGIN").get();
    } catch (error) {
      if (isAlreadyInTransaction(error)) return work();
      throw error;
    }
    try {
      return work();
    } finally {
      this.rollback();
    }
  }

  /** A caller may let SQLite wait for a lock. That would stop the event loop: we wait ourselves. */
  withoutWaiting<T>(work: () => T): T {
    const theirTimeout = this.isBorrowed ? Number(this.value("PRAGMA busy_timeout")) : 0;
    if (theirTimeout <= 0) return work();
    this.database.exec("PRAGMA busy_timeout = 0");
    try {
      return work();
    } finally {
      this.database.exec(`PRAGMA busy_timeout = ${theirTimeout}`);
    }
  }

  commit(): void {
    this.silent("COMMIT").get();
  }

  /** Some errors (a full disk) roll back by themselves; then there is nothing left to do. */
  rollback(): void {
    try {
      this.database.exec("ROLLBACK");
    } catch {
      // Not in a transaction any more.
    }
  }

  /** One value of one row: pragmas, counts. */
  value(sql: string, ...values: SqlValue[]): unknown {
    return this.rows<readonly unknown[]>(sql).get(...values)?.[0];
  }

  /** Where the main database lives; null in memory. */
  path(): string | null {
    const lists = this.objects<{ name: string; file: string | null }>("PRAGMA database_list").all();
    return lists.find((one) => one.name === "main")?.file || null;
  }
}

function prepareSelect(database: DatabaseLike, sql: string): StatementLike {
  const statement = database.prepare(sql);
  // Every number of ours is below 2^53, whatever the caller's connection is set to.
  statement.setReadBigInts?.(false);
  statement.safeIntegers?.(false);
  return statement;
}

function asRows(statement: StatementLike): RowStatement<unknown> {
  if (statement.setReturnArrays !== undefined) {
    statement.setReturnArrays(true);
    return statement;
  }
  if (statement.raw !== undefined) {
    statement.raw(true);
    return statement;
  }
  return {
    get: (...values) => {
      const row = statement.get(...values);
      return row === undefined ? undefined : Object.values(row as object);
    },
    all: (...values) => statement.all(...values).map((row) => Object.values(row as object)),
  };
}
