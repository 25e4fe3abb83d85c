import { StoreOpenError } from "../../core/errors.ts";

/** Loaded when a store is opened, so that whoever only imports this package needs no SQLite. */
export function loadSqlite(): typeof import("node:sqlite") {
  const load = (process as Partial<NodeJS.Process>).getBuiltinModule?.bind(process);
  const sqlite = quietly(() => load?.("node:sqlite")) as typeof import("node:sqlite") | undefined;
  if (sqlite !== undefined) return sqlite;
  throw new StoreOpenError(
    `the SQLite store needs Node 22.13 or newer, and this is ${process.version}: update Node, or use another store`,
  );
}

/**
 * Node 22 calls its SQLite experimental when it is loaded. A user of this store has not chosen that
 * module and can do nothing about it. Only this warning, and only in this one step.
 */
function quietly<Out>(load: () => Out): Out {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    const isOurs = String(warning).includes("SQLite is an experimental feature");
    if (!isOurs) Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
