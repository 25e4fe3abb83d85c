/** The business's data, whatever database has it: a few verbs over the tables, alone or inside a transaction. */
import type { NewRow, Row, TableName } from "./tables.ts";

type Cell = string | number | null;

/** From, inclusive; before, exclusive. */
export interface Range {
  readonly from?: string | number | undefined;
  readonly before?: string | number | undefined;
}

/** All of it must be so. */
export type Where<Name extends TableName> = {
  readonly [Field in keyof Row<Name>]?: Row<Name>[Field] | Range | undefined;
};

export interface FindOptions<Name extends TableName> {
  /** Ascending; with `newestFirst` descending. Default: by key. */
  readonly orderBy?: keyof Row<Name> & string;
  readonly newestFirst?: boolean;
  readonly limit?: number;
}

export interface Rows {
  find<Name extends TableName>(
    table: Name,
    where?: Where<Name>,
    options?: FindOptions<Name>,
  ): Promise<Row<Name>[]>;
  count<Name extends TableName>(table: Name, where?: Where<Name>): Promise<number>;
  /** Throws `DuplicateRowError` if one of them is there already; then none is added by a transaction. */
  add<Name extends TableName>(table: Name, rows: readonly NewRow<Name>[]): Promise<void>;
  /** Adds, or replaces the row of the same key as a whole. */
  put<Name extends TableName>(table: Name, rows: readonly NewRow<Name>[]): Promise<void>;
  /** How many rows were changed. */
  change<Name extends TableName>(
    table: Name,
    where: Where<Name>,
    values: Partial<Row<Name>>,
  ): Promise<number>;
  remove<Name extends TableName>(table: Name, where: Where<Name>): Promise<number>;
}

export interface Transaction extends Rows {
  /** For `hf.within(tx.handle)`, where jobs and data share a database; for `settleWithin`, too. */
  readonly handle: unknown;
}

/** For `@holdfast/imports`: what its targets take beside the name of a table. */
export type ImportPlace =
  | { readonly kind: "sqlite"; readonly file: string }
  /** Its tables are named with their schema: `public.transactions`. */
  | { readonly kind: "postgres"; readonly pool: object; readonly schema: string }
  | { readonly kind: "mongodb"; readonly db: object };

/** A class, so that Nest injects it by its name. */
export abstract class Data implements Rows {
  abstract readonly kind: "sqlite" | "postgres" | "mongodb";
  /** Whether `transaction` is one, or every write stands alone (a MongoDB without replica set). */
  abstract readonly hasTransactions: boolean;
  /** Makes what is missing: tables, columns, indexes. May run again, and in several processes at once. */
  abstract migrate(): Promise<void>;
  /** Commits when `work` resolves; nothing of it remains when it throws. */
  abstract transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>;
  abstract importPlace(): ImportPlace;
  abstract ping(): Promise<void>;
  abstract close(): Promise<void>;

  /** Of statements that stand alone. */
  protected abstract readonly rows: Rows;

  find<Name extends TableName>(table: Name, where?: Where<Name>, options?: FindOptions<Name>) {
    return this.rows.find(table, where, options);
  }
  count<Name extends TableName>(table: Name, where?: Where<Name>) {
    return this.rows.count(table, where);
  }
  add<Name extends TableName>(table: Name, rows: readonly NewRow<Name>[]) {
    return this.transaction((tx) => tx.add(table, rows));
  }
  put<Name extends TableName>(table: Name, rows: readonly NewRow<Name>[]) {
    return this.transaction((tx) => tx.put(table, rows));
  }
  change<Name extends TableName>(table: Name, where: Where<Name>, values: Partial<Row<Name>>) {
    return this.transaction((tx) => tx.change(table, where, values));
  }
  remove<Name extends TableName>(table: Name, where: Where<Name>) {
    return this.transaction((tx) => tx.remove(table, where));
  }
}

/** A row with the same key, or the same unique column, is there already. */
export class DuplicateRowError extends Error {
  override readonly name = "DuplicateRowError";
  readonly table: TableName;

  constructor(table: TableName, cause: unknown) {
    super(`${table} has such a row already: take another key, or change the row that is there`, {
      cause,
    });
    this.table = table;
  }
}

/** One condition after the other, as every database needs them. */
export interface Condition {
  readonly field: string;
  readonly is: "=" | ">=" | "<" | "null";
  readonly value: Cell;
}

export function conditionsOf(where: Readonly<Record<string, unknown>> = {}): Condition[] {
  return Object.entries(where).flatMap(([field, wanted]): Condition[] => {
    if (wanted === undefined) return [];
    if (wanted === null) return [{ field, is: "null", value: null }];
    if (typeof wanted !== "object") return [{ field, is: "=", value: wanted as Cell }];
    const { from, before } = wanted as Range;
    return [
      ...(from === undefined ? [] : [{ field, is: ">=" as const, value: from }]),
      ...(before === undefined ? [] : [{ field, is: "<" as const, value: before }]),
    ];
  });
}
