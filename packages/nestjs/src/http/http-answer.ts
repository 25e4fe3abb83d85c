/** What a caller over HTTP hears of an error of Holdfast. */
import { HttpException } from "@nestjs/common";
import type { HoldfastError } from "holdfast";

/** By code, without its prefix. What is not here, nor ends in NOT_FOUND, is our own trouble: 500. */
const STATUSES: Readonly<Record<string, number>> = {
  ...{ INVALID_NAME: 422, INVALID_OPTION: 422, INVALID_PAYLOAD: 422, PAYLOAD_VALIDATION: 422 },
  ...{ UNKNOWN_TYPE: 422, INVALID_CURSOR: 400, PAYLOAD_TOO_LARGE: 413 },
  ...{ DUPLICATE_JOB: 409, IDEMPOTENCY_CONFLICT: 409, KEY_BUSY: 409, OPERATION_STATE: 409 },
  ...{ SCHEDULE_IN_CODE: 409, QUEUE_FULL: 429, UNSUPPORTED: 501, WAIT_TIMEOUT: 504 },
  ...{ STORE_UNAVAILABLE: 503, STORE_FULL: 503, STORE_OPEN: 503, CLOSED: 503 },
  ...{ INLINE_REFUSED: 503 },
};
/** Where the error's own words name hosts, files and causes. */
const WORDS: Readonly<Record<string, string>> = {
  STORE_UNAVAILABLE: "the store does not answer: try again in a few seconds",
  STORE_FULL: "the store has no room: try again later",
  STORE_OPEN: "the store cannot be used as it is: the log of the server says why",
  CLOSED: "this application is stopping",
  INLINE_REFUSED: "the store is away, and this job cannot run without it",
};
const NAMES: Readonly<Record<number, string>> = {
  ...{ 400: "Bad Request", 404: "Not Found", 409: "Conflict", 413: "Payload Too Large" },
  ...{ 422: "Unprocessable Entity", 429: "Too Many Requests", 501: "Not Implemented" },
  ...{ 503: "Service Unavailable", 504: "Gateway Timeout" },
};
const RETRY_AFTER_S = 2;

export interface HttpAnswer {
  readonly exception: HttpException;
  /** Seconds, for the header `Retry-After`; null where the same request again is no help. */
  readonly retryAfterS: number | null;
}

/** Null for an error that says nothing to a caller: it is a 500, and belongs into the log. */
export function httpAnswer(error: HoldfastError): HttpAnswer | null {
  const name = error.code.replace("HOLDFAST_", "");
  const status = STATUSES[name] ?? (name.endsWith("NOT_FOUND") ? 404 : 500);
  if (status === 500) return null;
  const body = {
    ...{ statusCode: status, error: NAMES[status], code: error.code },
    message: WORDS[name] ?? error.message,
    ...("jobId" in error && { jobId: error.jobId }),
    ...("issues" in error && { errors: error.issues }),
  };
  const isLater = status === 429 || status === 503 || error.isRetryable;
  return {
    exception: new HttpException(body, status, { cause: error }),
    retryAfterS: isLater ? RETRY_AFTER_S : null,
  };
}
