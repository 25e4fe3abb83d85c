/**
 * What SQLite's result codes mean for a caller. `node:sqlite` gives a number (`errcode`),
 * better-sqlite3 a word (`code`); both may be extended codes, whose first part is what counts here.
 */
import { HoldfastError, StoreFullError, StoreUnavailableError } from "../../core/errors.ts";

export type SqliteTrouble = "busy" | "full" | "io" | "readonly" | "cantopen" | "notadb" | "corrupt";

const BY_NUMBER: Readonly<Record<number, SqliteTrouble>> = {
  5: "busy",
  6: "busy",
  8: "readonly",
  10: "io",
  11: "corrupt",
  13: "full",
  14: "cantopen",
  26: "notadb",
};

const BY_WORD: Readonly<Record<string, SqliteTrouble>> = {
  BUSY: "busy",
  LOCKED: "busy",
  READONLY: "readonly",
  IOERR: "io",
  CORRUPT: "corrupt",
  FULL: "full",
  CANTOPEN: "cantopen",
  NOTADB: "notadb",
};

/** Null for everything that is not one of the troubles a store must expect. */
export function troubleOf(error: unknown): SqliteTrouble | null {
  if (typeof error !== "object" || error === null) return null;
  const { errcode, code } = error as { readonly errcode?: unknown; readonly code?: unknown };
  if (typeof errcode === "number") return BY_NUMBER[errcode & 0xff] ?? null;
  if (typeof code !== "string") return null;
  return BY_WORD[/^SQLITE_([A-Z]+)/.exec(code)?.[1] ?? ""] ?? null;
}

export function isBusy(error: unknown): boolean {
  return troubleOf(error) === "busy";
}

/** A connection that is inside a transaction was asked to begin one. */
export function isAlreadyInTransaction(error: unknown): boolean {
  return error instanceof Error && error.message.includes("within a transaction");
}

/** What a verb throws when SQLite failed. Errors of our own, and bugs, pass as they are. */
export function storeError(
  error: unknown,
  { mayHaveHappened }: { mayHaveHappened: boolean },
): unknown {
  if (error instanceof HoldfastError) return error;
  switch (troubleOf(error)) {
    case "full":
      return new StoreFullError(
        "the database has no room left: free disk space or raise its max_page_count; what was stored before is safe",
        { cause: error },
      );
    case "busy":
      return new StoreUnavailableError(
        "another connection holds the database's write lock: try again, and keep write transactions short",
        { cause: error, mayHaveHappened },
      );
    case "readonly":
      return new StoreUnavailableError(
        "the database has become read-only: check the permissions of its file and folder",
        { cause: error, mayHaveHappened },
      );
    case "io":
    case "cantopen":
      return new StoreUnavailableError(
        "the disk failed to read or write the database: check the disk and the permissions of its folder",
        { cause: error, mayHaveHappened },
      );
    case "corrupt":
    case "notadb":
      return new StoreUnavailableError(
        "the database file is damaged: stop all workers, run PRAGMA integrity_check, and restore a backup if it fails",
        { cause: error, mayHaveHappened },
      );
    case null:
      return error;
  }
}
