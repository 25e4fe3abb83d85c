/**
 * What PostgreSQL's error codes mean for a caller. An error that the server reports for a statement
 * means that it was rolled back: surely not done. One that ends the connection leaves open whether a
 * commit on its way was done.
 */
import { HoldfastError, StoreFullError, StoreUnavailableError } from "../../core/errors.ts";

const DEADLOCK = "40P01";
const SERIALIZATION_FAILURE = "40001";
const LOCK_NOT_AVAILABLE = "55P03";
const DISK_FULL = "53100";
const READ_ONLY = "25006";
const NOT_SUPPORTED = "0A000";
const CANCELLED = "57014";

export function codeOf(error: unknown): string | null {
  if (typeof error !== "object" || error === null) return null;
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? code : null;
}

/** Another try may succeed at once: two transactions were in each other's way. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  return code === DEADLOCK || code === SERIALIZATION_FAILURE;
}

/** The server takes no writes: after a failover a connection may lead to a replica, and the next one not. */
export function isReadOnly(error: unknown): boolean {
  if (codeOf(error) === READ_ONLY) return true;
  // What a replica says to BEGIN READ WRITE. Its words may be in any language.
  const { routine } = Object(error) as { readonly routine?: unknown };
  return codeOf(error) === NOT_SUPPORTED && routine === "call_bool_check_hook";
}

export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
}

/** The pool's own word: no connection, neither a free one nor a new one, in the time it was given. */
export function isConnectTimeout(error: unknown): boolean {
  return error instanceof Error && /timeout.*connect|connection timeout/i.test(error.message);
}

/** Class 08 and shutdowns: nobody knows what became of the statement on its way. */
function endsConnection(error: unknown): boolean {
  const code = codeOf(error) ?? "";
  return code.startsWith("08") || code.startsWith("57P");
}

/** The server has answered: five characters, not all of them letters. */
export function isServersWord(error: unknown): boolean {
  return /^(?=.*[0-9])[0-9A-Z]{5}$/.test(codeOf(error) ?? "");
}

/** Errors of sockets, of the driver about its connection, and of servers that go away. */
export function breaksConnection(error: unknown): boolean {
  if (error instanceof HoldfastError) return false;
  const code = codeOf(error);
  if (isServersWord(error)) return endsConnection(error);
  if (code !== null && /^(E[A-Z_]+|ERR_(SOCKET|STREAM|TLS|SSL)[A-Z_]*)$/.test(code)) return true;
  const message = error instanceof Error ? error.message : "";
  return /connect|timeout|socket|not queryable|terminat|closed|the pool/i.test(message);
}

/** What a verb throws when PostgreSQL failed. Errors of our own, and bugs, pass as they are. */
export function storeError(
  error: unknown,
  { mayHaveHappened }: { readonly mayHaveHappened: boolean },
): unknown {
  if (error instanceof HoldfastError) return error;
  if (breaksConnection(error)) {
    return unavailable("the connection to PostgreSQL failed: try again", error, mayHaveHappened);
  }
  if (isReadOnly(error)) {
    return unavailable(
      "PostgreSQL answers read-only: connect to the primary, not to a replica",
      error,
    );
  }
  switch (codeOf(error)) {
    case DISK_FULL:
      return new StoreFullError(
        "PostgreSQL has no disk space left: free some; what was stored before is safe",
        { cause: error },
      );
    case DEADLOCK:
    case SERIALIZATION_FAILURE:
      return unavailable(
        "other transactions kept stopping this one until its time was up: try again",
        error,
      );
    case LOCK_NOT_AVAILABLE:
      return unavailable(
        "another transaction holds a lock for too long: try again, and keep transactions short",
        error,
      );
    case CANCELLED:
      return unavailable("PostgreSQL cancelled the statement: check statement_timeout", error);
    default:
      return byClass(error);
  }
}

function byClass(error: unknown): unknown {
  switch (codeOf(error)?.slice(0, 2)) {
    case "53":
      return unavailable("PostgreSQL is short of memory or connections: try again", error);
    case "28":
    case "3D":
      return unavailable(
        "PostgreSQL refused the user or the database: check the user, the password and the database that Holdfast connects with",
        error,
      );
    default:
      return error;
  }
}

function unavailable(message: string, cause: unknown, mayHaveHappened = false): Error {
  return new StoreUnavailableError(message, { cause, mayHaveHappened });
}
