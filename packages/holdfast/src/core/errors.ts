/**
 * Every error Holdfast throws, each with a stable `code`. Messages say what to do next and never
 * contain a payload. `docs/reference/errors.md` lists exactly these; a test keeps the two equal.
 */
import type { JobStatus } from "./job.ts";

interface ErrorDetails {
  readonly cause?: unknown;
}

export abstract class HoldfastError extends Error {
  abstract readonly code: `HOLDFAST_${string}`;
  /** May the same call succeed later without any change by the caller? */
  readonly isRetryable: boolean = false;

  constructor(message: string, details: ErrorDetails = {}) {
    // As Error does: what is no object of details says nothing.
    const isObject = typeof details === "object" && details !== null;
    super(message, isObject && "cause" in details ? { cause: details.cause } : undefined);
    this.name = new.target.name;
  }
}

// ── what a caller gave us ───────────────────────────────────────────────────────────────────────

export class InvalidNameError extends HoldfastError {
  readonly code = "HOLDFAST_INVALID_NAME";
}

export class InvalidOptionError extends HoldfastError {
  readonly code = "HOLDFAST_INVALID_OPTION";
}

export class InvalidCursorError extends HoldfastError {
  readonly code = "HOLDFAST_INVALID_CURSOR";
}

/** The payload cannot be written as JSON that every store gives back unchanged. */
export class InvalidPayloadError extends HoldfastError {
  readonly code = "HOLDFAST_INVALID_PAYLOAD";
}

export class PayloadTooLargeError extends HoldfastError {
  readonly code = "HOLDFAST_PAYLOAD_TOO_LARGE";
}

export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

/** The payload does not fit the schema of its contract. */
export class PayloadValidationError extends HoldfastError {
  readonly code = "HOLDFAST_PAYLOAD_VALIDATION";
  readonly issues: readonly SchemaIssue[];

  constructor(message: string, issues: readonly SchemaIssue[]) {
    super(message);
    this.issues = issues;
  }
}

/** What a handler returned does not fit the result schema of its contract. */
export class ResultValidationError extends HoldfastError {
  readonly code = "HOLDFAST_RESULT_VALIDATION";
  readonly issues: readonly SchemaIssue[];

  constructor(message: string, issues: readonly SchemaIssue[]) {
    super(message);
    this.issues = issues;
  }
}

/** No contract or handler of this type is known here, and no queue was named. */
export class UnknownTypeError extends HoldfastError {
  readonly code = "HOLDFAST_UNKNOWN_TYPE";
}

/** A second, different contract or handler for one type. */
export class TypeTakenError extends HoldfastError {
  readonly code = "HOLDFAST_TYPE_TAKEN";
}

// ── what a store answered ───────────────────────────────────────────────────────────────────────

export class DuplicateJobError extends HoldfastError {
  readonly code = "HOLDFAST_DUPLICATE_JOB";
  readonly jobId: string;
  readonly status: JobStatus | "pruned";

  constructor(message: string, jobId: string, status: JobStatus | "pruned") {
    super(message);
    this.jobId = jobId;
    this.status = status;
  }
}

/** The key is taken by a job with another payload. */
export class IdempotencyConflictError extends HoldfastError {
  readonly code = "HOLDFAST_IDEMPOTENCY_CONFLICT";
  readonly jobId: string;

  constructor(message: string, jobId: string) {
    super(message);
    this.jobId = jobId;
  }
}

export class QueueFullError extends HoldfastError {
  readonly code = "HOLDFAST_QUEUE_FULL";
  override readonly isRetryable = true;
}

/** An open transaction is taking or freeing this idempotency key: how it ends is not known yet. */
export class KeyBusyError extends HoldfastError {
  readonly code = "HOLDFAST_KEY_BUSY";
  override readonly isRetryable = true;
}

export class JobNotFoundError extends HoldfastError {
  readonly code = "HOLDFAST_JOB_NOT_FOUND";
}

export class OperationNotFoundError extends HoldfastError {
  readonly code = "HOLDFAST_OPERATION_NOT_FOUND";
}

/** There is no gate of this name. */
export class GateNotFoundError extends HoldfastError {
  readonly code = "HOLDFAST_GATE_NOT_FOUND";
}

export class PresetNotFoundError extends HoldfastError {
  readonly code = "HOLDFAST_PRESET_NOT_FOUND";
}

/** The operation is in a state that does not allow it. */
export class OperationStateError extends HoldfastError {
  readonly code = "HOLDFAST_OPERATION_STATE";
}

/** A store cannot be moved as it is: it runs jobs, or jobs keep coming. */
export class MoveRefusedError extends HoldfastError {
  readonly code = "HOLDFAST_MOVE_REFUSED";
  override readonly isRetryable = true;
}

export class ScheduleNotFoundError extends HoldfastError {
  readonly code = "HOLDFAST_SCHEDULE_NOT_FOUND";
}

/** The schedule is declared in code, so an operator can pause it but not change it. */
export class ScheduleInCodeError extends HoldfastError {
  readonly code = "HOLDFAST_SCHEDULE_IN_CODE";
}

export class WorkerNotFoundError extends HoldfastError {
  readonly code = "HOLDFAST_WORKER_NOT_FOUND";
}

export class LockNotFoundError extends HoldfastError {
  readonly code = "HOLDFAST_LOCK_NOT_FOUND";
}

export class WaitTimeoutError extends HoldfastError {
  readonly code = "HOLDFAST_WAIT_TIMEOUT";
  override readonly isRetryable = true;
}

/** The store did not answer in time, or not at all. */
export class StoreUnavailableError extends HoldfastError {
  readonly code = "HOLDFAST_STORE_UNAVAILABLE";
  override readonly isRetryable = true;
  /** False: surely not done. True: nobody can know; call again, every verb bears it. */
  readonly mayHaveHappened: boolean;

  constructor(message: string, details: ErrorDetails & { readonly mayHaveHappened: boolean }) {
    super(message, details);
    // Unsaid, nobody can know.
    this.mayHaveHappened = (Object(details) as Partial<typeof details>).mayHaveHappened !== false;
  }
}

/** The store has no room: a full disk, a memory limit. Running jobs still finish where they can. */
export class StoreFullError extends HoldfastError {
  readonly code = "HOLDFAST_STORE_FULL";
  override readonly isRetryable = true;
}

/** The store cannot be used as it is: not a database, newer than this code, read-only. */
export class StoreOpenError extends HoldfastError {
  readonly code = "HOLDFAST_STORE_OPEN";
}

/** The store is away, and this job cannot run in its caller: it is due later, or has no handler here. */
export class InlineRefusedError extends HoldfastError {
  readonly code = "HOLDFAST_INLINE_REFUSED";
  override readonly isRetryable = true;
}

/** This store cannot do that; `info()` says what it can. */
export class UnsupportedError extends HoldfastError {
  readonly code = "HOLDFAST_UNSUPPORTED";
}

/** `within` was given something that is not an open transaction of the store's database. */
export class NotInTransactionError extends HoldfastError {
  readonly code = "HOLDFAST_NOT_IN_TRANSACTION";
}

/** The caller's own open transaction is the only writer of the file: this write would wait for ever. */
export class TransactionOpenError extends HoldfastError {
  readonly code = "HOLDFAST_TRANSACTION_OPEN";
}

/** A webhook that leads to this machine or to a private network, and is not allowed to. */
export class PrivateAddressError extends HoldfastError {
  readonly code = "HOLDFAST_PRIVATE_ADDRESS";
}

/** A webhook did not take an alert. Its job tries again. */
export class WebhookError extends HoldfastError {
  readonly code = "HOLDFAST_WEBHOOK";
  override readonly isRetryable = true;
  /** What it answered; 408 if it did not in time, null if it could not be asked. */
  readonly status: number | null;
  readonly headers: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    details: ErrorDetails & {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(message, details);
    // An error is made where there is trouble already: nothing that it is given makes it throw.
    const { status = null, headers = {} } = details ?? {};
    this.status = status;
    this.headers = headers;
  }
}

/** Closed, or never opened. */
export class ClosedError extends HoldfastError {
  readonly code = "HOLDFAST_CLOSED";
}

// ── what happens to a running job: the reasons of its signal ────────────────────────────────────

/** Another worker may have this job now. Nothing this attempt says is stored any more. */
export class LeaseLostError extends HoldfastError {
  readonly code = "HOLDFAST_LEASE_LOST";
}

export class JobTimeoutError extends HoldfastError {
  readonly code = "HOLDFAST_JOB_TIMEOUT";
}

export class JobCancelledError extends HoldfastError {
  readonly code = "HOLDFAST_JOB_CANCELLED";
}

export class WorkerStoppedError extends HoldfastError {
  readonly code = "HOLDFAST_WORKER_STOPPED";
}

// ── what a handler did, or means to say ─────────────────────────────────────────────────────────

/** A step with a taken name, inside another step, or beyond the limits. */
export class StepError extends HoldfastError {
  readonly code = "HOLDFAST_STEP";
}

export class SpawnLimitError extends HoldfastError {
  readonly code = "HOLDFAST_SPAWN_LIMIT";
}

/** `scope` or `owner` of a contract's lock threw, or gave no text of 1 to 512 characters. */
export class LockScopeError extends HoldfastError {
  readonly code = "HOLDFAST_LOCK_SCOPE";
}

/** Thrown by a handler: the job is dead at once, whatever attempts are left. */
export class PermanentError extends HoldfastError {
  readonly code = "HOLDFAST_PERMANENT";
}

/** Thrown by a handler: not before `afterMs` from now, and no attempt is spent. */
export class RetryAfterError extends HoldfastError {
  readonly code = "HOLDFAST_RETRY_AFTER";
  override readonly isRetryable = true;
  readonly afterMs: number;

  constructor(afterMs: number, message = "the other side asked to come back later") {
    super(message);
    if (!Number.isFinite(afterMs) || afterMs < 0) {
      throw new InvalidOptionError("RetryAfterError takes the milliseconds to wait, 0 or more");
    }
    this.afterMs = afterMs;
  }
}

// ── in a user's own tests ───────────────────────────────────────────────────────────────────────

/** Handlers did not end while a test kit drained them. */
export class DrainTimeoutError extends HoldfastError {
  readonly code = "HOLDFAST_DRAIN_TIMEOUT";
}
