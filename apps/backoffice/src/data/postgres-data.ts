/** Business data in PostgreSQL: a pool, and a client of its own for each transaction. */
import pg from "pg";
import { Data, type ImportPlace, type Transaction } from "./data.ts";
import { sqlRows, type SqlSession } from "./sql-rows.ts";
import { indexesSql, missingColumnsSql, tableSql, type SqlSchema } from "./sql-schema.ts";
import { TABLE_NAMES } from "./tables.ts";

/**
 * Named in every statement: a user called like the schema of the jobs would find tables of Holdfast under our names,
 * because PostgreSQL looks first into the schema that is called like the user.
 */
const SCHEMA_NAME = "public";
const SCHEMA: SqlSchema = {
  types: { text: "text", number: "numeric(16, 2)", whole: "bigint" },
  prefix: `"${SCHEMA_NAME}".`,
};
const UNIQUE_VIOLATION = "23505";
/** Any number that other programs do not take: one process migrates, the others wait. */
const MIGRATION_LOCK = 4_680_028;
const CONNECT_MS = 10_000;

export class PostgresData extends Data {
  readonly kind = "postgres";
  readonly hasTransactions = true;
  readonly #pool: pg.Pool;
  protected readonly rows: ReturnType<typeof sqlRows>;

  constructor(url: string) {
    super();
    this.#pool = new pg.Pool({
      ...{ connectionString: url, max: 8, connectionTimeoutMillis: CONNECT_MS },
    });
    // A connection that ends is replaced, and whoever used it is told by its query. Without listeners it would end the
    // process: the pool's are for idle ones only, so those of transactions and imports have their own.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => client.on("error", () => {}));
    this.rows = sqlRows(sessionOf(this.#pool));
  }

  async migrate(): Promise<void> {
    await this.#inTransaction(async (client) => {
      await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
      for (const table of TABLE_NAMES) {
        await client.query(tableSql(table, SCHEMA));
        const { rows } = await client.query<{ column_name: string }>(
          "SELECT column_name FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2",
          [SCHEMA_NAME, table],
        );
        const present = new Set(rows.map((row) => row.column_name));
        for (const sql of missingColumnsSql(table, present, SCHEMA)) await client.query(sql);
        for (const sql of indexesSql(table, SCHEMA)) await client.query(sql);
      }
    });
  }

  transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.#inTransaction((client) => work({ ...sqlRows(sessionOf(client)), handle: client }));
  }

  importPlace(): ImportPlace {
    return { kind: "postgres", pool: this.#pool, schema: SCHEMA_NAME };
  }

  async ping(): Promise<void> {
    await this.#pool.query("SELECT 1");
  }

  async close(): Promise<void> {
    if (!this.#pool.ended) await this.#pool.end();
  }

  async #inTransaction<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    try {
      await client.query("BEGIN");
      const result = await work(client);
      await client.query("COMMIT");
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch((lost: Error) => {
        broken = lost;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }
}

function sessionOf(client: pg.Pool | pg.PoolClient): SqlSession {
  return {
    prefix: SCHEMA.prefix,
    async run(sql, values) {
      const { rows, rowCount } = await client.query<Record<string, unknown>>(sql, [...values]);
      return { rows, changes: rowCount ?? 0 };
    },
    isDuplicate: (error) => (Object(error) as { code?: unknown }).code === UNIQUE_VIOLATION,
  };
}
