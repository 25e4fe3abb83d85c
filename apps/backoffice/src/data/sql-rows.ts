/** The verbs as SQL, for SQLite and PostgreSQL alike: they differ in how a statement is sent and in placeholders. */
import {
  conditionsOf,
  DuplicateRowError,
  type FindOptions,
  type Rows,
  type Where,
} from "./data.ts";
import { columnsOf, specOf, type NewRow, type Row, type TableName } from "./tables.ts";

export type SqlCell = string | number | null;

export interface SqlAnswer {
  readonly rows: readonly Record<string, unknown>[];
  readonly changes: number;
}

export interface SqlSession {
  /** In front of a table's name: `"public".`, or nothing. */
  readonly prefix: string;
  /** Placeholders are `$1`, `$2`, … */
  run(sql: string, values: readonly SqlCell[]): Promise<SqlAnswer>;
  isDuplicate(error: unknown): boolean;
}

/** Rows in one statement: far below what a statement may carry. */
const MOST_ROWS = 200;

export function sqlRows(session: SqlSession): Rows {
  const named = (table: TableName) => session.prefix + quoted(table);
  return {
    async find<Name extends TableName>(
      table: Name,
      where?: Where<Name>,
      options: FindOptions<Name> = {},
    ) {
      const { sql, values } = whereSql(where);
      const direction = options.newestFirst === true ? "DESC" : "ASC";
      const by = options.orderBy === undefined ? specOf(table).key : [options.orderBy];
      const order = by.map((field) => `${quoted(field)} ${direction}`).join(", ");
      const limit = options.limit === undefined ? "" : ` LIMIT ${Math.trunc(options.limit)}`;
      const columns = columnsOf(table).map(quoted).join(", ");
      const { rows } = await session.run(
        `SELECT ${columns} FROM ${named(table)}${sql} ORDER BY ${order}${limit}`,
        values,
      );
      return rows.map((row) => readRow(table, row));
    },
    async count(table, where) {
      const { sql, values } = whereSql(where);
      const { rows } = await session.run(`SELECT count(*) AS n FROM ${named(table)}${sql}`, values);
      return Number(rows[0]?.["n"]);
    },
    add: (table, rows) => write(table, rows, ""),
    put: (table, rows) => write(table, rows, replaceSql(table)),
    async change(table, where, values) {
      const fields = Object.keys(values);
      if (fields.length === 0) return 0;
      const set = fields.map((field, index) => `${quoted(field)} = $${index + 1}`).join(", ");
      const cells = Object.values(values) as SqlCell[];
      const condition = whereSql(where, fields.length);
      const sql = `UPDATE ${named(table)} SET ${set}${condition.sql}`;
      return (await session.run(sql, [...cells, ...condition.values])).changes;
    },
    async remove(table, where) {
      const { sql, values } = whereSql(where);
      return (await session.run(`DELETE FROM ${named(table)}${sql}`, values)).changes;
    },
  };

  async function write<Name extends TableName>(
    table: Name,
    rows: readonly NewRow<Name>[],
    ending: string,
  ): Promise<void> {
    const columns = columnsOf(table);
    for (let start = 0; start < rows.length; start += MOST_ROWS) {
      const some = rows.slice(start, start + MOST_ROWS) as readonly Record<string, unknown>[];
      const values = some.flatMap((row) =>
        columns.map((column) => (row[column] ?? null) as SqlCell),
      );
      const tuples = some.map((_, at) => tuple(at * columns.length, columns.length)).join(", ");
      const into = `${named(table)} (${columns.map(quoted).join(", ")})`;
      try {
        await session.run(`INSERT INTO ${into} VALUES ${tuples}${ending}`, values);
      } catch (error) {
        throw session.isDuplicate(error) ? new DuplicateRowError(table, error) : error;
      }
    }
  }
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function tuple(before: number, size: number): string {
  return `(${Array.from({ length: size }, (_, at) => `$${before + at + 1}`).join(", ")})`;
}

function replaceSql(table: TableName): string {
  const { key } = specOf(table);
  const set = columnsOf(table)
    .filter((column) => !key.includes(column))
    .map((column) => `${quoted(column)} = excluded.${quoted(column)}`);
  return ` ON CONFLICT (${key.map(quoted).join(", ")}) DO UPDATE SET ${set.join(", ")}`;
}

function whereSql(where: object = {}, before = 0): { sql: string; values: SqlCell[] } {
  const values: SqlCell[] = [];
  const parts = conditionsOf(where as Record<string, unknown>).map(({ field, is, value }) => {
    if (is === "null") return `${quoted(field)} IS NULL`;
    values.push(value);
    return `${quoted(field)} ${is} $${before + values.length}`;
  });
  return { sql: parts.length === 0 ? "" : ` WHERE ${parts.join(" AND ")}`, values };
}

/** PostgreSQL gives long and exact numbers as text. */
export function readRow<Name extends TableName>(
  table: Name,
  given: Readonly<Record<string, unknown>>,
): Row<Name> {
  const { columns } = specOf(table);
  const cells = Object.entries(columns).map(([column, kind]) => {
    const value = given[column] ?? null;
    return [column, value === null || kind === "text" ? value : Number(value)];
  });
  return Object.fromEntries(cells) as Row<Name>;
}
