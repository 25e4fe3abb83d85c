/** The part of a SQLite driver that the target uses; `node:sqlite` and better-sqlite3 both have it. */
import { ImportTargetError } from "../errors.ts";

export type SqlValue = string | number | bigint | null | Uint8Array;

export interface StatementLike {
  run(...values: SqlValue[]): { readonly changes: number | bigint };
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
}

export interface DatabaseLike {
  prepare(sql: string): StatementLike;
  exec(sql: string): unknown;
  close(): unknown;
}

export function isDatabaseLike(value: unknown): value is DatabaseLike {
  const { prepare, exec } = Object(value) as Partial<DatabaseLike>;
  return typeof prepare === "function" && typeof exec === "function";
}

/** Waits a moment for another writer; longer waits leave the event loop free. */
const BUSY_MS = 5;

export function openSqlite(file: string): DatabaseLike {
  const sqlite = process.getBuiltinModule("node:sqlite");
  if (sqlite === undefined) {
    throw new ImportTargetError(
      `sqliteTarget({ file }) needs Node 22.13 or newer, and this is ${process.version}: update Node, or give it a db of better-sqlite3`,
    );
  }
  const db = new sqlite.DatabaseSync(file);
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA journal_mode = WAL;`);
  return db as DatabaseLike;
}

export function sqlValue(value: unknown): SqlValue {
  if (value === null || value === undefined) return null;
  if (typeof value === "string" || typeof value === "bigint") return value;
  // Drivers hand a number over as a real one, and a column of text would have "1001.0" of it.
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value instanceof Date) return value.toISOString();
  return value instanceof Uint8Array ? value : JSON.stringify(value);
}

const CONSTRAINT = 19;
const MISMATCH = 20;
const TOO_BIG = 18;
const BUSY = 5;
const LOCKED = 6;

/** The row does not fit the table; the others may. */
export function isRowFault(error: unknown): boolean {
  const code = codeOf(error);
  if (code === CONSTRAINT || code === MISMATCH || code === TOO_BIG) return true;
  return /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)/.test(wordOf(error));
}

export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code === BUSY || code === LOCKED || /^SQLITE_(BUSY|LOCKED)/.test(wordOf(error));
}

/** `node:sqlite` has the extended number; its low byte is the kind. */
function codeOf(error: unknown): number {
  const { errcode } = Object(error) as { readonly errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : 0;
}

/** better-sqlite3 has a word. */
function wordOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}
