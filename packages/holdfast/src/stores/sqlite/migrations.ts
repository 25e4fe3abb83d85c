/**
 * Brings the tables up to date. Steps are numbered from 1 and never edited once released; each runs
 * inside the one write transaction that also moves the version, so ten processes that open a new
 * file at once take turns, and nine of them find nothing left to do.
 *
 * A step only adds (columns that may be left out, tables, indexes), so the code of the version before
 * goes on working beside the new one, and a deployment can be rolled back. The file itself says how old
 * that code may be: `serves` is the number of steps it must know. Therefore no INSERT of this store relies
 * on the number or the order of columns.
 */
import { StoreOpenError } from "../../core/errors.ts";
import type { Connection } from "./connection.ts";
import { DEAD_COUNTS } from "./count-dead.ts";
import { missingPart } from "./layout.ts";
import { LOOKING } from "./looking-schema.ts";
import { TABLES, UNCHARGED_LEASES, UPKEEP_AND_CLOCK } from "./schema.ts";
import { troubleOf } from "./sqlite-error.ts";
import { VIEWS } from "./views.ts";

export const MIGRATIONS: readonly string[] = [
  TABLES,
  UNCHARGED_LEASES,
  UPKEEP_AND_CLOCK,
  LOOKING,
  VIEWS,
  DEAD_COUNTS,
];

/** Code that knows at least so many steps works with what all of them have made. */
const SERVES = 4;

const META_TABLE = `
  CREATE TABLE IF NOT EXISTS holdfast_meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`;
const HAS_META = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'holdfast_meta'";
const HAS_TABLES = "SELECT name FROM sqlite_schema WHERE name GLOB 'holdfast_*' LIMIT 1";
const READ_META = "SELECT value FROM holdfast_meta WHERE key = ?";
const WRITE_META = `
  INSERT INTO holdfast_meta (key, value) VALUES (?, ?)
  ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

/** 0 for a database without our tables. Reads only, so that opening an up-to-date file waits for nobody. */
export function schemaVersion(connection: Connection): number {
  return numberIn(connection, "schema") ?? 0;
}

function numberIn(connection: Connection, key: "schema" | "serves"): number | null {
  if (connection.value(HAS_META) === undefined) return null;
  const value = connection.value(READ_META, key);
  return value === undefined ? null : Number(value);
}

/** False: steps are missing. Throws for a file that this code must not touch. */
export function isUpToDate(connection: Connection): boolean {
  const version = schemaVersion(connection);
  if (version < MIGRATIONS.length) return false;
  if (version > MIGRATIONS.length) {
    const serves = numberIn(connection, "serves") ?? version;
    if (serves > MIGRATIONS.length) throw tooNew(version, serves);
  }
  const missing = missingPart(connection, MIGRATIONS);
  if (missing !== null) throw unknownLayout(`there is no ${missing} as it should be`);
  return true;
}

/** Inside a write transaction, which makes the version read and the steps one. */
export function migrate(connection: Connection): void {
  const version = schemaVersion(connection);
  if (version === 0) {
    const table = connection.value(HAS_TABLES);
    if (table !== undefined) throw unknownLayout(`${String(table)} is there, but no version`);
  }
  connection.database.exec(META_TABLE);
  try {
    for (const sql of MIGRATIONS.slice(version)) connection.database.exec(sql);
  } catch (error) {
    if (troubleOf(error) !== null || !(error instanceof Error)) throw error;
    throw unknownLayout(error.message, error);
  }
  if (version < MIGRATIONS.length) {
    connection.run(WRITE_META, "schema", String(MIGRATIONS.length));
    connection.run(WRITE_META, "serves", String(SERVES));
  }
  isUpToDate(connection);
}

function tooNew(version: number, serves: number): StoreOpenError {
  return new StoreOpenError(
    `this database was written by a newer Holdfast (schema ${version}, for code that knows schema ${serves} or newer; this one knows up to ${MIGRATIONS.length}): upgrade the holdfast package here, or use another file`,
  );
}

function unknownLayout(detail: string, cause?: Error): StoreOpenError {
  return new StoreOpenError(
    `this database has tables of Holdfast in a layout that this version does not know (${detail}): a development version or another program made them. Move the file away or give another path`,
    { cause },
  );
}
