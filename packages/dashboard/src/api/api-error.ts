/** What the server refused, or that it did not answer. */
export class ApiError extends Error {
  /** 0: no answer came. */
  readonly status: number;
  readonly code: string;
  /** Seconds to wait, as the server asked for; null: it did not. */
  readonly retryAfter: number | null;
  /** The job that it is about, where the server names one. */
  readonly jobId: string | null;

  constructor(
    status: number,
    code: string,
    message: string,
    about: { readonly retryAfter?: number | null; readonly jobId?: string | null } = {},
  ) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.retryAfter = about.retryAfter ?? null;
    this.jobId = about.jobId ?? null;
  }
}
