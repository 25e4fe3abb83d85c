/** Statements that make what is missing of the tables. All of them may run again. */
import { quoted } from "./sql-rows.ts";
import { firmOf, specOf, type ColumnKind, type TableName } from "./tables.ts";

export type SqlTypes = Readonly<Record<ColumnKind, string>>;

export interface SqlSchema {
  readonly types: SqlTypes;
  /** In front of a table's name: `"public".`, or nothing. */
  readonly prefix: string;
}

export function tableSql(table: TableName, { types, prefix }: SqlSchema): string {
  const { columns, key } = specOf(table);
  const firm = firmOf(table);
  const lines = Object.entries(columns).map(
    ([column, kind]) => `${quoted(column)} ${types[kind]}${firm.has(column) ? " NOT NULL" : ""}`,
  );
  const primary = `PRIMARY KEY (${key.map(quoted).join(", ")})`;
  return `CREATE TABLE IF NOT EXISTS ${prefix}${quoted(table)} (${[...lines, primary].join(", ")})`;
}

/** A table of an older version lacks columns. What is added may be null: rows are there already. */
export function missingColumnsSql(
  table: TableName,
  present: ReadonlySet<string>,
  { types, prefix }: SqlSchema,
): string[] {
  return Object.entries(specOf(table).columns)
    .filter(([column]) => !present.has(column))
    .map(
      ([column, kind]) =>
        `ALTER TABLE ${prefix}${quoted(table)} ADD COLUMN ${quoted(column)} ${types[kind]}`,
    );
}

export function indexesSql(table: TableName, { prefix }: SqlSchema): string[] {
  const { unique = [], indexes = [] } = specOf(table);
  const make = (word: string, fields: readonly string[]) =>
    `CREATE ${word} IF NOT EXISTS ${quoted(`${table}_${fields.join("_")}`)} ON ${prefix}${quoted(table)} (${fields.map(quoted).join(", ")})`;
  return [
    ...unique.map((fields) => make("UNIQUE INDEX", fields)),
    ...indexes.map((fields) => make("INDEX", fields)),
  ];
}
