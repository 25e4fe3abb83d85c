/**
 * Rows into a table of PostgreSQL: one statement for a batch, and in the same transaction how far the import has
 * come. A row that the table refuses does not take its batch along: the batch is then written row by row.
 */
import { InvalidOptionError } from "holdfast";
import { ImportOvertakenError, ImportTargetError } from "../errors.ts";
import { checkOptions, checkText } from "../option-checks.ts";
import { cleanReason } from "../schema/row-schema.ts";
import { byFields, byRow, present, roundsOf } from "./batch-rows.ts";
import {
  codeOf,
  isRowFault,
  isWorthAnotherTry,
  openPool,
  sqlText,
  type ClientLike,
  type PoolLike,
} from "./postgres-driver.ts";
import { PostgresProgress } from "./postgres-progress.ts";
import { checkTable, columnNamer, quoted, type ColumnNames } from "./sql-names.ts";
import type {
  Batch,
  BatchAnswer,
  Beginning,
  Ending,
  ImportState,
  ImportTarget,
  RowError,
  RowKey,
  TargetRow,
} from "./target.ts";

export interface PostgresTargetOptions {
  /** Your own pool of `pg`; or else `url`. */
  readonly pool?: PoolLike | undefined;
  readonly url?: string | undefined;
  /** `customers`, `billing.customers`. */
  readonly table: string;
  /** Where a field goes, if its column has another name: `{ invoiceNumber: "invoice_number" }`. */
  readonly columns?: ColumnNames | undefined;
}

interface Put {
  readonly inserted: number;
  readonly refused: readonly RowError[];
}

const TRIES = 5;
/** A constraint that waits for the end of the transaction would refuse all of its rows, and none by name. */
const ASK_NOW = "SET CONSTRAINTS ALL IMMEDIATE";

export function postgresTarget(options: PostgresTargetOptions): ImportTarget {
  checkOptions("postgresTarget", options, ["pool", "url", "table", "columns"]);
  const { pool, url } = options;
  if ((pool === undefined) === (url === undefined)) {
    throw new InvalidOptionError("postgresTarget takes either a pool or a url");
  }
  if (pool !== undefined && typeof pool.connect !== "function") {
    throw new InvalidOptionError("pool must be a pool of pg: new pg.Pool({ connectionString })");
  }
  if (url !== undefined) checkText("url", url);
  return new PostgresTarget(options);
}

class PostgresTarget implements ImportTarget {
  readonly name: string;
  readonly #options: PostgresTargetOptions;
  readonly #table: string;
  readonly #progress: PostgresProgress;
  readonly #column: (field: string) => string;
  #own: Promise<PoolLike> | null = null;
  /** The type of each column, as a statement casts to it. */
  #types: ReadonlyMap<string, string> = new Map();
  /** It has partitions: what is written there does not tell whether it was there before. */
  #isDivided = false;

  constructor(options: PostgresTargetOptions) {
    this.#options = options;
    const parts = checkTable(options.table);
    this.#table = parts.map(quoted).join(".");
    const schema = parts.length === 2 ? `${quoted(parts[0] as string)}.` : "";
    this.#progress = new PostgresProgress(schema);
    this.#column = columnNamer(options.columns);
    this.name = `table ${options.table}`;
  }

  prepare(keyFields: readonly string[]): Promise<void> {
    return this.#withClient(async (client) => {
      const { table } = this.#options;
      const found = await client.query(
        `SELECT a.attname, quote_ident(n.nspname) || '.' || quote_ident(t.typname), c.relkind
         FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
           JOIN pg_namespace n ON n.oid = t.typnamespace JOIN pg_class c ON c.oid = a.attrelid
         WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped`,
        [this.#table],
      );
      if (found.rows.length === 0) {
        throw new ImportTargetError(`there is no table ${table}: create it, then retry the job`);
      }
      const columns = found.rows.map((row) => Object.values(row as object) as string[]);
      this.#types = new Map(columns.map(([name, type]) => [name!, type!]));
      this.#isDivided = columns[0]![2] === "p";
      this.#check(keyFields);
      const key = keyFields.map(this.#column);
      const unique = await client.query(
        `SELECT 1 FROM pg_index i WHERE i.indrelid = to_regclass($1) AND i.indisunique
           AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
           AND (SELECT array_agg(a.attname::text ORDER BY a.attname::text) FROM pg_attribute a
             WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey[0:i.indnkeyatts - 1]))
             = (SELECT array_agg(k ORDER BY k) FROM unnest($2::text[]) k)`,
        [this.#table, key],
      );
      if (unique.rows.length > 0) return;
      throw new ImportTargetError(
        `the table ${table} has no unique index on ${key.join(", ")}: ` +
          `CREATE UNIQUE INDEX ON ${this.#table} (${key.map(quoted).join(", ")})`,
      );
    });
  }

  begin(beginning: Beginning): Promise<ImportState> {
    return this.#withClient((client) => this.#progress.begin(client, beginning));
  }

  async write(batch: Batch): Promise<BatchAnswer> {
    for (const { values } of batch.rows) this.#check(Object.keys(present(values)));
    for (let tried = 1; ; tried += 1) {
      try {
        return await this.#withClient((client) => this.#writeOnce(client, batch));
      } catch (error) {
        // Two imports that wait for each other's rows: one of them begins its batch again.
        if (!isWorthAnotherTry(error) || tried === TRIES) throw error;
      }
    }
  }

  async #writeOnce(client: ClientLike, batch: Batch): Promise<BatchAnswer> {
    await client.query("BEGIN");
    try {
      const { inserted, refused } = await this.#putAll(client, batch.rows);
      const failures = [...batch.failures, ...refused].toSorted(byRow);
      const updated = batch.rows.length - refused.length - inserted;
      const answer = { inserted, updated, failures };
      await this.#progress.advance(client, batch, answer);
      await client.query("COMMIT");
      return answer;
    } catch (error) {
      // On a connection that is gone there is nothing to roll back.
      await client.query("ROLLBACK").catch(() => {});
      throw error;
    }
  }

  finish(ending: Ending): Promise<void> {
    return this.#withClient((client) => this.#progress.finish(client, ending));
  }

  failures(job: string, limit: number): Promise<readonly RowError[]> {
    return this.#withClient((client) => this.#progress.failures(client, job, limit));
  }

  async existing(keys: readonly RowKey[]): Promise<readonly boolean[]> {
    if (keys.length === 0) return [];
    try {
      const there = await this.#withClient((client) => this.#there(client, keys));
      return keys.map((_, at) => there.has(at + 1));
    } catch (error) {
      if (!isRowFault(error)) throw error;
      // A key that its column cannot even read is not there, and says nothing of the others.
      if (keys.length === 1) return [false];
      const half = Math.ceil(keys.length / 2);
      const parts = [keys.slice(0, half), keys.slice(half)];
      return [...(await this.existing(parts[0]!)), ...(await this.existing(parts[1]!))];
    }
  }

  /** Counted from 1. */
  async #there(client: ClientLike, keys: readonly RowKey[]): Promise<ReadonlySet<number>> {
    const fields = Object.keys(keys[0]!);
    const on = fields.map((field, at) => {
      const column = this.#column(field);
      return `t.${quoted(column)} = s.c${at}::${this.#types.get(column)}`;
    });
    const { rows } = await client.query(
      `SELECT s.n FROM ${this.#unnest(fields.length, "WITH ORDINALITY", ", n")}
       JOIN ${this.#table} t ON ${on.join(" AND ")}`,
      fields.map((field) => keys.map((key) => sqlText(key[field]))),
    );
    return new Set(rows.map((row) => Number((row as { n: unknown }).n)));
  }

  async close(): Promise<void> {
    const own = this.#options.pool === undefined ? this.#own : null;
    this.#own = null;
    await (await own?.catch(() => null))?.end();
  }

  #check(fields: readonly string[]): void {
    for (const field of fields) {
      const column = this.#column(field);
      if (this.#types.has(column)) continue;
      throw new ImportTargetError(
        `the table ${this.#options.table} has no column ${column}: add it, or say with columns where ${field} goes`,
      );
    }
  }

  /**
   * The rows as sets; where the table refuses one, each on its own. Constraints that wait are asked at the end, for
   * rows may need each other; only if they refuse something then, after each row.
   */
  async #putAll(client: ClientLike, rows: readonly TargetRow[]): Promise<Put> {
    if (rows.length === 0) return { inserted: 0, refused: [] };
    const ways = [
      () => this.#putSets(client, rows),
      () => this.#putEach(client, rows, false),
      () => this.#putEach(client, rows, true),
    ];
    await client.query("SAVEPOINT batch");
    for (let at = 0; ; at += 1) {
      try {
        const put = await ways[at]!();
        await client.query(ASK_NOW);
        return put;
      } catch (error) {
        if (!isRowFault(error) || at === ways.length - 1) throw error;
        await client.query("ROLLBACK TO SAVEPOINT batch");
      }
    }
  }

  async #putSets(client: ClientLike, rows: readonly TargetRow[]): Promise<Put> {
    let inserted = 0;
    const sets = roundsOf(rows).flatMap((round) => [...byFields(round).values()]);
    for (const set of sets) inserted += await this.#put(client, set);
    return { inserted, refused: [] };
  }

  async #putEach(client: ClientLike, rows: readonly TargetRow[], isAsked: boolean): Promise<Put> {
    const refused: RowError[] = [];
    let inserted = 0;
    for (const one of rows) {
      await client.query("SAVEPOINT one");
      try {
        const count = await this.#put(client, [one]);
        if (isAsked) await client.query(ASK_NOW);
        await client.query("RELEASE SAVEPOINT one");
        inserted += count;
      } catch (error) {
        if (!isRowFault(error)) throw error;
        await client.query("ROLLBACK TO SAVEPOINT one");
        refused.push({ row: one.row, reason: cleanReason((error as Error).message) });
      }
    }
    return { inserted, refused };
  }

  /** How many were not there before. */
  async #put(client: ClientLike, rows: readonly TargetRow[]): Promise<number> {
    const [first] = rows as readonly [TargetRow];
    const names = [...new Set([...Object.keys(first.key), ...Object.keys(present(first.values))])];
    const columns = names.map(this.#column);
    const key = Object.keys(first.key).map(this.#column);
    const others = columns.filter((column) => !key.includes(column));
    const cast = columns.map((column, at) => `s.c${at}::${this.#types.get(column)}`);
    const set = (others.length > 0 ? others : key).map(
      (column) => `${quoted(column)} = EXCLUDED.${quoted(column)}`,
    );
    // Of what another import writes in between, both count an insert.
    const keys = rows.map((one) => one.key);
    const there = this.#isDivided ? await this.#there(client, keys) : null;
    const { rows: answers } = await client.query(
      `INSERT INTO ${this.#table} AS t (${columns.map(quoted).join(", ")})
       SELECT ${cast.join(", ")} FROM ${this.#unnest(names.length)}
       ON CONFLICT (${key.map(quoted).join(", ")}) DO UPDATE SET ${set.join(", ")}
       RETURNING ${there ? "true" : "(t.xmax = 0)"} AS is_new`,
      names.map((name) =>
        rows.map(({ key: own, values }) => sqlText(name in own ? own[name] : values[name])),
      ),
    );
    const written = answers.filter((row) => (row as { is_new: unknown }).is_new === true).length;
    return written - (there?.size ?? 0);
  }

  /** Every value travels as text: the column's own type reads it. */
  #unnest(count: number, how = "", more = ""): string {
    const arrays = Array.from({ length: count }, (_, at) => `$${at + 1}::text[]`);
    const columns = Array.from({ length: count }, (_, at) => `c${at}`);
    return `unnest(${arrays.join(", ")}) ${how} AS s(${columns.join(", ")}${more})`;
  }

  async #withClient<Out>(body: (client: ClientLike) => Promise<Out>): Promise<Out> {
    const { pool, url } = this.#options;
    this.#own ??= pool === undefined ? openPool(url as string) : Promise.resolve(pool);
    const from = await this.#own;
    const client = await from.connect();
    // A connection that ends between two questions says so by an event; the next question fails.
    const ignore = (): void => {};
    client.on?.("error", ignore);
    let broken: Error | null = null;
    try {
      return await body(client);
    } catch (error) {
      // Without a code of the server, the connection itself may be what failed.
      const isOurs = error instanceof ImportTargetError || error instanceof ImportOvertakenError;
      if (!isOurs && codeOf(error) === "") broken = error as Error;
      throw error;
    } finally {
      client.removeListener?.("error", ignore);
      client.release(broken ?? undefined);
    }
  }
}
