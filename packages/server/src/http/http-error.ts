/** An answer that refuses, as a throw. What is in it is shown to the caller: no stack, no SQL, no path. */

export interface FieldIssue {
  /** `body.items[2].type`, `query.limit`. */
  readonly path: string;
  readonly message: string;
}

interface Details {
  /** Shown beside code and message. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export class HttpError extends Error {
  readonly status: number;
  readonly code: string;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, details: Details | null = {}) {
    super(message);
    this.name = "HttpError";
    this.status = status;
    this.code = code;
    this.extra = details?.extra ?? {};
    this.headers = details?.headers ?? {};
  }
}

/** What is not there and what is outside of a token's scope look alike. */
export function notFound(what = "such thing"): HttpError {
  return new HttpError(404, "not_found", `there is no ${what} here`);
}

export function invalid(issues: readonly FieldIssue[], code = "invalid_request"): HttpError {
  const [first] = issues;
  const message = first ? `${first.path}: ${first.message}` : "the request does not fit";
  return new HttpError(422, code, message, { extra: { errors: issues.slice(0, 20) } });
}

export function tooMany(code: string, message: string, retryAfterMs: number): HttpError {
  return new HttpError(429, code, message, {
    extra: { retryAfterMs },
    headers: { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) },
  });
}
