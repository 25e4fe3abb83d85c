import { StoreOpenError } from "../../core/errors.ts";

/** Loaded when a store is opened, so that a program that only imports this package needs no SQLite. */
export function loadSqlite(): typeof import("node:sqlite") {
  const load = (process as Partial<NodeJS.Process>).getBuiltinModule?.bind(process);
  const sqlite = load?.("node:sqlite") as typeof import("node:sqlite") | undefined;
  if (sqlite !== undefined) return sqlite;
  throw new StoreOpenError(
    `the SQLite store needs Node 22.13 or newer, and this is ${process.version}: update Node, or use another store`,
  );
}
