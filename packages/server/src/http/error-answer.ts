/**
 * What a caller hears of an error. The library's own errors have words for people, and those of 4xx are passed
 * on; anything else says only that something went wrong, with the number under which the log has it.
 */
import { PayloadValidationError, type HoldfastError } from "holdfast";
import { HttpError } from "./http-error.ts";

/** By code, without its prefix; the store's troubles are worded here. */
const STATUSES: Readonly<Record<string, number>> = {
  ...{ INVALID_NAME: 422, INVALID_OPTION: 422, INVALID_PAYLOAD: 422, PAYLOAD_VALIDATION: 422 },
  ...{ UNKNOWN_TYPE: 422, INVALID_CURSOR: 400, PAYLOAD_TOO_LARGE: 413 },
  ...{ DUPLICATE_JOB: 409, IDEMPOTENCY_CONFLICT: 409, KEY_BUSY: 409, OPERATION_STATE: 409 },
  ...{ SIMULATION_STATE: 409, SIMULATION_TAKEN: 409 },
  ...{ SCHEDULE_IN_CODE: 409, QUEUE_FULL: 429, UNSUPPORTED: 501, WAIT_TIMEOUT: 504 },
  ...{ STORE_UNAVAILABLE: 503, STORE_FULL: 503, STORE_OPEN: 503, CLOSED: 503 },
  ...{ INLINE_REFUSED: 503 },
};
const WORDS: Readonly<Record<string, string>> = {
  STORE_UNAVAILABLE: "the store does not answer: try again in a few seconds",
  STORE_FULL: "the store has no room: make some, then try again",
  STORE_OPEN: "the store cannot be used as it is: the log of the server says why",
  CLOSED: "this server is stopping",
  INLINE_REFUSED: "the store is away, and this job cannot run without it",
};
const RETRY_AFTER_S = 2;

export interface ErrorAnswer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** The caller is told nothing of it, so the log must. */
  readonly isOurs: boolean;
}

export function errorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof HttpError) {
    const { status, code, message, extra, headers } = error;
    return { status, code, message, extra, headers, isOurs: status >= 500 && status !== 503 };
  }
  if (isHoldfastError(error)) {
    const name = error.code.replace("HOLDFAST_", "");
    const status = STATUSES[name] ?? (name.endsWith("NOT_FOUND") ? 404 : 500);
    if (status !== 500) return known(error, name, status);
  }
  return {
    ...{ status: 500, code: "internal", extra: {}, headers: {}, isOurs: true },
    message: "something went wrong here: the log of the server has it under this request's id",
  };
}

function known(error: HoldfastError, name: string, status: number): ErrorAnswer {
  const isLater = error.isRetryable || status === 503;
  return {
    ...{ status, code: name.toLowerCase(), message: WORDS[name] ?? error.message },
    extra: {
      ...(isIssues(error) && { errors: error.issues }),
      ...("jobId" in error && { jobId: error.jobId }),
      ...(status === 429 && { retryAfterMs: RETRY_AFTER_S * 1000 }),
    },
    headers: isLater ? { "retry-after": String(RETRY_AFTER_S) } : {},
    isOurs: status >= 500 && status !== 503 && status !== 501,
  };
}

function isIssues(error: HoldfastError): error is PayloadValidationError {
  return error instanceof PayloadValidationError;
}

/** By its code, not by its class: two copies of the library in one process would have two classes. */
export function isHoldfastError(error: unknown): error is HoldfastError {
  const { code } = Object(error) as { readonly code?: unknown };
  return error instanceof Error && typeof code === "string" && code.startsWith("HOLDFAST_");
}

/** The store is away, for this error. */
export function isStoreAway(error: unknown): boolean {
  return isHoldfastError(error) && STATUSES[error.code.replace("HOLDFAST_", "")] === 503;
}
