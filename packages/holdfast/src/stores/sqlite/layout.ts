/**
 * Whether the tables of a file are the ones this code was written for. The version number alone does not
 * tell: a development version may have had other tables under the same number, and such a file opened, and
 * failed at its first settle.
 *
 * What must be there is not listed anywhere: the migrations are run in an empty database in memory, once
 * a process, and what they make there is what the file must have. It may have more: the next version adds.
 */
import { Connection } from "./connection.ts";
import type { DatabaseLike } from "./database-like.ts";
import { loadSqlite } from "./load-sqlite.ts";

const COLUMNS = `
  SELECT m.name || '.' || c.name, c.type, c."notnull", c.pk
  FROM sqlite_schema m CROSS JOIN pragma_table_info(m.name) c
  WHERE m.type = 'table' AND m.name GLOB 'holdfast_*'`;
const INDEXES = `
  SELECT m.name, group_concat(coalesce(i.name, ''), ', ')
  FROM sqlite_schema m CROSS JOIN pragma_index_info(m.name) i
  WHERE m.type = 'index' AND m.name GLOB 'holdfast_*' GROUP BY m.name`;
const TRIGGERS = `
  SELECT m.name, m.sql FROM sqlite_schema m WHERE m.type = 'trigger' AND m.name GLOB 'holdfast_*'`;

/** Each part of a layout, as it is called for people, with how it is made. */
type Layout = ReadonlyMap<string, string>;

let wanted: Layout | null = null;

/** What this code needs and the database does not have as it should be. Null: all is there. */
export function missingPart(connection: Connection, migrations: readonly string[]): string | null {
  wanted ??= layoutMadeBy(migrations);
  const found = layoutOf(connection);
  for (const [part, how] of wanted) if (found.get(part) !== how) return part;
  return null;
}

function layoutMadeBy(migrations: readonly string[]): Layout {
  const { DatabaseSync } = loadSqlite();
  const scratch: DatabaseLike = new DatabaseSync(":memory:");
  try {
    for (const sql of migrations) scratch.exec(sql);
    return layoutOf(new Connection(scratch));
  } finally {
    scratch.close();
  }
}

function layoutOf(connection: Connection): Layout {
  const columns = connection
    .rows<[string, ...unknown[]]>(COLUMNS)
    .all()
    .map(([name, ...how]): [string, string] => [`column ${name}`, how.join(" ")]);
  const named = (what: string, sql: string) =>
    connection
      .rows<[string, string]>(sql)
      .all()
      .map(([name, how]): [string, string] => [`${what} ${name}`, how.replaceAll(/\s+/g, " ")]);
  return new Map([...columns, ...named("index", INDEXES), ...named("trigger", TRIGGERS)]);
}
