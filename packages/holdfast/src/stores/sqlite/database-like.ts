/**
 * The part of a SQLite driver this store uses. `node:sqlite` and better-sqlite3 both have it, so a
 * caller's own connection of either kind will do; neither is imported.
 */
export type SqlValue = string | number | bigint | null | Uint8Array;

export interface StatementLike {
  run(...values: SqlValue[]): { readonly changes: number | bigint };
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
  /** `node:sqlite`, from Node 22.16 on. */
  setReturnArrays?(on: boolean): unknown;
  /** `node:sqlite`. */
  setReadBigInts?(on: boolean): unknown;
  /** better-sqlite3. */
  raw?(on?: boolean): unknown;
  /** better-sqlite3. */
  safeIntegers?(on?: boolean): unknown;
}

export interface DatabaseLike {
  prepare(sql: string): StatementLike;
  exec(sql: string): unknown;
  close(): unknown;
  /** `node:sqlite`, from Node 22.16 on. */
  readonly isTransaction?: boolean;
  /** better-sqlite3. */
  readonly inTransaction?: boolean;
}

export function isDatabaseLike(value: unknown): value is DatabaseLike {
  if (typeof value !== "object" || value === null) return false;
  const { prepare, exec } = value as Partial<DatabaseLike>;
  return typeof prepare === "function" && typeof exec === "function";
}
