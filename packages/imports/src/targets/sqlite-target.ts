/**
 * Rows into a table of a SQLite file. A batch and how far the import has come are one transaction, which begins
 * and ends within one turn of the event loop.
 */
import { setTimeout as pause } from "node:timers/promises";
import { InvalidOptionError } from "holdfast";
import { ImportOvertakenError, ImportTargetError } from "../errors.ts";
import { checkOptions, checkText } from "../option-checks.ts";
import { cleanReason } from "../schema/row-schema.ts";
import { byRow, present } from "./batch-rows.ts";
import { checkTable, columnNamer, quoted, type ColumnNames } from "./sql-names.ts";
import { sqliteProgress } from "./sqlite-progress.ts";
import {
  isBusy,
  isDatabaseLike,
  isRowFault,
  openSqlite,
  sqlValue,
  type DatabaseLike,
  type StatementLike,
} from "./sqlite-driver.ts";
import type {
  Batch,
  BatchAnswer,
  Ending,
  ImportTarget,
  RowError,
  RowKey,
  TargetRow,
} from "./target.ts";

export interface SqliteTargetOptions {
  /** Your own connection, of `node:sqlite` or better-sqlite3; or else `file`. */
  readonly db?: DatabaseLike | undefined;
  readonly file?: string | undefined;
  readonly table: string;
  /** Where a field goes, if its column has another name: `{ invoiceNumber: "invoice_number" }`. */
  readonly columns?: ColumnNames | undefined;
}

/** How long a write waits for another process that writes to the file. */
const PATIENCE_MS = 30_000;
const LOOK_AGAIN_MS = 20;

export function sqliteTarget(options: SqliteTargetOptions): ImportTarget {
  checkOptions("sqliteTarget", options, ["db", "file", "table", "columns"]);
  const { db, file } = options;
  if ((db === undefined) === (file === undefined)) {
    throw new InvalidOptionError("sqliteTarget takes either a db or a file");
  }
  if (db !== undefined && !isDatabaseLike(db)) {
    throw new InvalidOptionError("db must be a connection of node:sqlite or better-sqlite3");
  }
  if (file !== undefined) checkText("file", file);
  return new SqliteTarget(options);
}

class SqliteTarget implements ImportTarget {
  readonly name: string;
  readonly #options: SqliteTargetOptions;
  readonly #table: string;
  readonly #parts: readonly string[];
  readonly #column: (field: string) => string;
  readonly #statements = new Map<string, StatementLike>();
  #db: DatabaseLike | null = null;
  #columns: ReadonlySet<string> = new Set();

  constructor(options: SqliteTargetOptions) {
    this.#options = options;
    this.#parts = checkTable(options.table);
    this.#table = this.#parts.map(quoted).join(".");
    this.#column = columnNamer(options.columns);
    this.name = `table ${options.table}`;
  }

  async prepare(keyFields: readonly string[]): Promise<void> {
    const db = this.#open();
    const { table } = this.#options;
    const columns = db.prepare("SELECT name FROM pragma_table_xinfo(?)").all(this.#bare);
    this.#columns = new Set(columns.map((one) => String((one as { name: unknown }).name)));
    if (this.#columns.size === 0) {
      throw new ImportTargetError(`there is no table ${table}: create it, then retry the job`);
    }
    const key = keyFields.map(this.#column);
    this.#check(keyFields);
    if (this.#hasUnique(db, key)) return;
    throw new ImportTargetError(
      `the table ${table} has no unique index on ${key.join(", ")}: CREATE UNIQUE INDEX ` +
        `${this.#bare}_key ON ${this.#table} (${key.map(quoted).join(", ")})`,
    );
  }

  begin(beginning: Parameters<ImportTarget["begin"]>[0]) {
    return this.#write((db) => sqliteProgress(db).begin(beginning));
  }

  async write(batch: Batch): Promise<BatchAnswer> {
    for (const { values } of batch.rows) this.#check(Object.keys(present(values)));
    return this.#write((db) => {
      const progress = sqliteProgress(db);
      const failures: RowError[] = [...batch.failures];
      let inserted = 0;
      let updated = 0;
      for (const one of batch.rows) {
        try {
          if (this.#put(db, one)) inserted += 1;
          else updated += 1;
        } catch (error) {
          if (!isRowFault(error)) throw error;
          this.#checkWithin(db);
          failures.push({ row: one.row, reason: cleanReason((error as Error).message) });
        }
      }
      failures.sort(byRow);
      const answer = { inserted, updated, failures };
      if (!progress.advance(batch, answer)) {
        throw new ImportOvertakenError("a newer attempt goes on with this import");
      }
      return answer;
    });
  }

  async finish(ending: Ending): Promise<void> {
    const isDone = await this.#write((db) => sqliteProgress(db).finish(ending));
    if (!isDone) throw new ImportOvertakenError("a newer attempt goes on with this import");
  }

  async failures(job: string, limit: number): Promise<readonly RowError[]> {
    return sqliteProgress(this.#open()).failures(job, limit);
  }

  async existing(keys: readonly RowKey[]): Promise<readonly boolean[]> {
    const db = this.#open();
    return keys.map((key) => {
      const fields = Object.keys(key);
      const where = fields.map((field) => `${quoted(this.#column(field))} = ?`).join(" AND ");
      const found = this.#statement(db, `SELECT 1 FROM ${this.#table} WHERE ${where} LIMIT 1`);
      return found.get(...fields.map((field) => sqlValue(key[field]))) != null;
    });
  }

  async close(): Promise<void> {
    if (this.#options.db === undefined) this.#db?.close();
    this.#db = null;
    this.#statements.clear();
  }

  get #bare(): string {
    return this.#parts.at(-1) as string;
  }

  #open(): DatabaseLike {
    if (this.#db) return this.#db;
    const { db, file } = this.#options;
    this.#db = db ?? openSqlite(file as string);
    return this.#db;
  }

  #hasUnique(db: DatabaseLike, key: readonly string[]): boolean {
    const wanted = key.toSorted().join("\u0000");
    const primary = db
      .prepare("SELECT name FROM pragma_table_info(?) WHERE pk > 0")
      .all(this.#bare) as { name: string }[];
    const isPrimary =
      primary
        .map(({ name }) => name)
        .toSorted()
        .join("\u0000") === wanted;
    if (isPrimary) return true;
    const list = 'SELECT name FROM pragma_index_list(?) WHERE "unique" = 1 AND partial = 0';
    const indexes = db.prepare(list).all(this.#bare) as { name: string }[];
    return indexes.some(({ name }) => {
      const parts = db.prepare("SELECT name FROM pragma_index_info(?)").all(name);
      return (
        parts
          .map((one) => String((one as { name: unknown }).name))
          .toSorted()
          .join("\u0000") === wanted
      );
    });
  }

  #check(fields: readonly string[]): void {
    for (const field of fields) {
      const column = this.#column(field);
      if (this.#columns.has(column)) continue;
      throw new ImportTargetError(
        `the table ${this.#options.table} has no column ${column}: add it, or say with columns where ${field} goes`,
      );
    }
  }

  /** A table may end the transaction for one row: the rows after it would be written, those before it are gone. */
  #checkWithin(db: DatabaseLike): void {
    try {
      db.exec("BEGIN");
    } catch {
      // There is one still, and it has no other inside of it.
      return;
    }
    throw new ImportTargetError(
      `the table ${this.#options.table} rolls everything back where it refuses a row: ` +
        "take ON CONFLICT ROLLBACK and RAISE(ROLLBACK) out of its constraints and triggers",
    );
  }

  /** True: it was not there before. */
  #put(db: DatabaseLike, { key, values }: TargetRow): boolean {
    const row = { ...present(values), ...key };
    const names = Object.keys(row);
    const keys = Object.keys(key);
    const others = names.filter((name) => !(name in key));
    const sql = (name: string) => quoted(this.#column(name));
    const set = (others.length > 0 ? others : keys).map((name) => `${sql(name)} = ?`);
    const where = keys.map((name) => `${sql(name)} = ?`).join(" AND ");
    const update = this.#statement(
      db,
      `UPDATE ${this.#table} SET ${set.join(", ")} WHERE ${where}`,
    );
    const of = (list: readonly string[]) => list.map((name) => sqlValue(row[name]));
    const changed = update.run(...of(others.length > 0 ? others : keys), ...of(keys));
    if (Number(changed.changes) > 0) return false;
    const marks = names.map(() => "?").join(", ");
    const into = `INSERT INTO ${this.#table} (${names.map(sql).join(", ")}) VALUES (${marks})`;
    this.#statement(db, into).run(...of(names));
    return true;
  }

  #statement(db: DatabaseLike, sql: string): StatementLike {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = db.prepare(sql);
    // A row may have any set of fields: what is kept must not grow with them.
    if (this.#statements.size >= 200) this.#statements.clear();
    this.#statements.set(sql, statement);
    return statement;
  }

  /** In one turn: no other code of this process comes between. */
  async #write<Out>(body: (db: DatabaseLike) => Out): Promise<Out> {
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const db = this.#open();
      try {
        db.exec("BEGIN IMMEDIATE");
      } catch (error) {
        if (!isBusy(error) || Date.now() > until) throw error;
        await pause(LOOK_AGAIN_MS);
        continue;
      }
      try {
        const out = body(db);
        db.exec("COMMIT");
        return out;
      } catch (error) {
        rollBack(db);
        if (!isBusy(error) || Date.now() > until) throw error;
        await pause(LOOK_AGAIN_MS);
      }
    }
  }
}

function rollBack(db: DatabaseLike): void {
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite has done it already.
  }
}
