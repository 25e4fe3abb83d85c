/**
 * Brings the tables up to date. Steps are numbered from 1 and never edited once released; each runs
 * inside the one write transaction that also moves the version, so ten processes that open a new
 * file at once take turns, and nine of them find nothing left to do.
 */
import { StoreOpenError } from "../../core/errors.ts";
import type { Connection } from "./connection.ts";
import { TABLES, UNCHARGED_LEASES } from "./schema.ts";

export const MIGRATIONS: readonly string[] = [TABLES, UNCHARGED_LEASES];

const VERSION_TABLE = `
  CREATE TABLE IF NOT EXISTS holdfast_meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`;

/** 0 for a database without our tables. Reads only, so that opening an up-to-date file waits for nobody. */
export function schemaVersion(connection: Connection): number {
  const isKnown = connection.value(
    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'holdfast_meta'",
  );
  if (isKnown === undefined) return 0;
  const value = connection.value("SELECT value FROM holdfast_meta WHERE key = 'schema'");
  return value === undefined ? 0 : Number(value);
}

export function isUpToDate(connection: Connection): boolean {
  const version = schemaVersion(connection);
  if (version <= MIGRATIONS.length) return version === MIGRATIONS.length;
  throw new StoreOpenError(
    `this database was written by a newer Holdfast (schema ${version}, this one knows up to ${MIGRATIONS.length}): upgrade the holdfast package here, or use another file`,
  );
}

/** Inside a write transaction, which makes the version read and the steps one. */
export function migrate(connection: Connection): void {
  if (isUpToDate(connection)) return;
  connection.database.exec(VERSION_TABLE);
  for (let step = schemaVersion(connection); step < MIGRATIONS.length; step++) {
    connection.database.exec(MIGRATIONS[step] as string);
  }
  connection.run(
    "INSERT INTO holdfast_meta (key, value) VALUES ('schema', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    String(MIGRATIONS.length),
  );
}
