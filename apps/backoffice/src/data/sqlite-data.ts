/**
 * Business data in a SQLite file, beside the jobs or in a file of its own. Two connections: one for statements that
 * stand alone, one for transactions, which take turns.
 */
import { DatabaseSync } from "node:sqlite";
import { Data, type ImportPlace, type Transaction } from "./data.ts";
import { sqlRows, type SqlSession } from "./sql-rows.ts";
import { indexesSql, missingColumnsSql, tableSql, type SqlSchema } from "./sql-schema.ts";
import { TABLE_NAMES } from "./tables.ts";
import { Turns } from "./turns.ts";

const SCHEMA: SqlSchema = {
  types: { text: "TEXT", number: "REAL", whole: "INTEGER" },
  prefix: "",
};
/** For another writer of the file; the event loop stands still meanwhile. */
const BUSY_MS = 5_000;
const CONSTRAINT_UNIQUE = 2067;
const CONSTRAINT_PRIMARY_KEY = 1555;

export class SqliteData extends Data {
  readonly kind = "sqlite";
  readonly hasTransactions = true;
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #transactions: DatabaseSync;
  readonly #turns = new Turns();
  protected readonly rows: ReturnType<typeof sqlRows>;

  constructor(file: string) {
    super();
    this.#file = file;
    this.#db = opened(file);
    // In memory each connection would have a database of its own.
    this.#transactions = file === ":memory:" ? this.#db : opened(file);
    this.rows = sqlRows(sessionOf(this.#db));
  }

  async migrate(): Promise<void> {
    await this.#inTurn(async (db) => {
      for (const table of TABLE_NAMES) {
        db.exec(tableSql(table, SCHEMA));
        const found = db.prepare("SELECT name FROM pragma_table_info(?)").all(table);
        const present = new Set(found.map(({ name }) => String(name)));
        for (const sql of missingColumnsSql(table, present, SCHEMA)) db.exec(sql);
        for (const sql of indexesSql(table, SCHEMA)) db.exec(sql);
      }
    });
  }

  transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.#inTurn((db) => work({ ...sqlRows(sessionOf(db)), handle: db }));
  }

  importPlace(): ImportPlace {
    return { kind: "sqlite", file: this.#file };
  }

  async ping(): Promise<void> {
    this.#db.prepare("SELECT 1").get();
  }

  async close(): Promise<void> {
    // A transaction that runs may end.
    await this.#turns.take(async () => {
      if (this.#db.isOpen) this.#db.close();
      if (this.#transactions.isOpen) this.#transactions.close();
    });
  }

  #inTurn<Result>(work: (db: DatabaseSync) => Promise<Result>): Promise<Result> {
    return this.#turns.take(async () => {
      const db = this.#transactions;
      db.exec("BEGIN IMMEDIATE");
      try {
        const result = await work(db);
        db.exec("COMMIT");
        return result;
      } catch (error) {
        if (db.isTransaction) db.exec("ROLLBACK");
        throw error;
      }
    });
  }
}

function opened(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: BUSY_MS });
  db.exec("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;");
  return db;
}

function sessionOf(db: DatabaseSync): SqlSession {
  return {
    prefix: SCHEMA.prefix,
    async run(sql, values) {
      // `$1` would be a name in SQLite; no statement of ours has a text with a dollar in it.
      const statement = db.prepare(sql.replaceAll(/\$(?=\d)/g, "?"));
      if (sql.startsWith("SELECT")) {
        return { rows: statement.all(...values) as Record<string, unknown>[], changes: 0 };
      }
      return { rows: [], changes: Number(statement.run(...values).changes) };
    },
    isDuplicate(error) {
      const { errcode } = Object(error) as { readonly errcode?: unknown };
      return errcode === CONSTRAINT_UNIQUE || errcode === CONSTRAINT_PRIMARY_KEY;
    },
  };
}
