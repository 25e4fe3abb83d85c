/**
 * What MongoDB's errors mean for a caller. The server's word about one operation means that it was not
 * done; an error of the network, or of a write that has not reached a majority, leaves it open.
 */
import { HoldfastError, StoreFullError, StoreUnavailableError } from "../../core/errors.ts";

const DUPLICATE_KEY = 11000;
const MAX_TIME_EXPIRED = 50;
const WRITE_CONFLICT = 112;
const EXCEEDED_TIME_LIMIT = 262;
const OUT_OF_DISK_SPACE = 14031;
/** Not primary, stepping down, shutting down, network between nodes, too late: another try may do. */
const PASSING = new Set([
  6, 7, 24, 50, 64, 79, 89, 91, 100, 112, 134, 189, 262, 358, 9001, 10058, 10107, 11600, 11602,
  13435, 13436,
]);
/** Wrong name or password, or no right to what we do. */
const FORBIDDEN = new Set([13, 18]);

/** One item of a bulk that failed. */
export interface WriteError {
  readonly index: number;
  readonly code: number;
  /** Of a taken key: the fields of the index, and which of the item's values is taken. */
  readonly keyValue?: Readonly<Record<string, unknown>>;
}

export function codeOf(error: unknown): number | null {
  if (typeof error !== "object" || error === null) return null;
  const { code } = error as { readonly code?: unknown };
  return typeof code === "number" ? code : null;
}

export function isDuplicateKey(error: unknown): boolean {
  return codeOf(error) === DUPLICATE_KEY;
}

/** Of one item, or of the first that failed in a transaction. */
export function isDuplicate(error: unknown): boolean {
  return isDuplicateKey(error) || duplicatesIn(error) !== null;
}

/** Said inside a transaction: another one has changed the same, or is about to. */
export function isConflict(error: unknown): boolean {
  if (codeOf(error) === WRITE_CONFLICT) return true;
  return writeErrorsOf(error).some(({ code }) => code === WRITE_CONFLICT);
}

/** Somebody else's open transaction has it, or the server is very slow. Some of it may be done. */
export function isTooLate(error: unknown): boolean {
  // All of it is done, and only not confirmed.
  if (hasConcernError(error)) return false;
  if (codeOf(error) === MAX_TIME_EXPIRED) return true;
  return writeErrorsOf(error).some(({ code }) => code === MAX_TIME_EXPIRED);
}

function writeErrorsOf(error: unknown): readonly WriteError[] {
  if (typeof error !== "object" || error === null) return [];
  const { writeErrors = [] } = error as { readonly writeErrors?: unknown };
  return (Array.isArray(writeErrors) ? writeErrors : [writeErrors]) as WriteError[];
}

/** The failed items of a bulk if all of them failed for a taken key, else null. */
export function duplicatesIn(error: unknown): readonly WriteError[] | null {
  const errors = writeErrorsOf(error);
  const isOnlyThat = errors.length > 0 && errors.every(({ code }) => code === DUPLICATE_KEY);
  return isOnlyThat && !hasConcernError(error) ? errors : null;
}

/** The items of a write command that failed for a taken key, by its reply. For all else it throws. */
export function duplicatesOf(reply: object): Set<number> {
  return new Set(takenOf(reply).keys());
}

/** The same, with the text that is taken; null: the server does not say. Of several texts of an item it is the least. */
export function takenOf(reply: object): Map<number, string | null> {
  if ("writeConcernError" in reply) {
    const message = "a majority of MongoDB's nodes has not confirmed a write: try again";
    throw new StoreUnavailableError(message, { mayHaveHappened: true });
  }
  const errors = writeErrorsOf(reply);
  const other = errors.find(({ code }) => code !== DUPLICATE_KEY);
  if (other !== undefined) {
    const { code } = other;
    throw Object.assign(new Error(`MongoDB refused a write, code ${code}`), {
      code,
      writeErrors: errors,
    });
  }
  return new Map(errors.map(({ index, keyValue }) => [index, textIn(keyValue)]));
}

function textIn(keyValue: WriteError["keyValue"]): string | null {
  const [value] = Object.values(keyValue ?? {});
  return typeof value === "string" ? value : null;
}

function hasConcernError(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  if ((error as Error).name === "MongoWriteConcernError") return true;
  const { result } = error as { readonly result?: object };
  return [error, result ?? {}].some((place) => {
    const { getWriteConcernError } = place as { getWriteConcernError?: () => unknown };
    return typeof getWriteConcernError === "function" && getWriteConcernError.call(place) != null;
  });
}

/** Errors that end a caller's transaction: the driver's own retry must see them as they are. */
export function isTransactionError(error: unknown): boolean {
  return hasLabel(error, "TransientTransactionError");
}

function hasLabel(error: unknown, label: string): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { hasErrorLabel } = error as { hasErrorLabel?: (label: string) => boolean };
  return typeof hasErrorLabel === "function" && hasErrorLabel.call(error, label);
}

/** What a verb throws when MongoDB failed. Errors of our own, and bugs, pass as they are. */
export function storeError(error: unknown): unknown {
  if (error instanceof HoldfastError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (code === OUT_OF_DISK_SPACE) {
    const message = "MongoDB has no disk space left: free some; what was stored before is safe";
    return new StoreFullError(message, { cause: error });
  }
  if (code !== null && FORBIDDEN.has(code)) {
    const message = "MongoDB lets this user do this no more: check name, password and role";
    return new StoreUnavailableError(message, { cause: error, mayHaveHappened: false });
  }
  if (error.name === "MongoServerSelectionError") {
    const message = "no MongoDB server answers: try again";
    return new StoreUnavailableError(message, { cause: error, mayHaveHappened: true });
  }
  if (code === MAX_TIME_EXPIRED || code === EXCEEDED_TIME_LIMIT) {
    const message =
      "MongoDB was too slow for this call: try again, and look at the load of the server";
    return new StoreUnavailableError(message, { cause: error, mayHaveHappened: true });
  }
  if (isOfNetwork(error) || (code !== null && PASSING.has(code))) {
    const message = "the connection to MongoDB failed, or its primary has changed: try again";
    return new StoreUnavailableError(message, { cause: error, mayHaveHappened: true });
  }
  return error;
}

function isOfNetwork(error: Error): boolean {
  // One of them, PoolClearedOnNetworkError, has no prefix.
  const isItsOwn =
    /^(Mongo)?(Network|NotConnected|Topology|PoolC|ConnectionPool|WaitQueue|ClientClosed|ExpiredSession|WriteConcern|OperationTimeout)/;
  // The driver lets an error of the socket itself through as it is: EPIPE, ECONNRESET and the like.
  const isOfSocket = /^(E[A-Z]+|ERR_(STREAM|SOCKET)_.*)$/.test(
    String((error as { code?: unknown }).code),
  );
  // A bulk that failed as a whole, and says nothing of its items, hides what happened inside.
  const isWhole = error.name === "MongoBulkWriteError" && writeErrorsOf(error).length === 0;
  return (
    isWhole || isOfSocket || isItsOwn.test(error.name) || hasLabel(error, "RetryableWriteError")
  );
}
