/**
 * From how a handler ended to what becomes of its job. Pure but for the clock and chance it is
 * given; every row of docs/reference/rules.md about attempts and errors is decided here.
 */
import { backoffMs } from "../../core/backoff.ts";
import { classifyError, reclassify, type Classification } from "../../core/classify.ts";
import type { JobContract } from "../../core/contract.ts";
import {
  JobCancelledError,
  JobTimeoutError,
  LeaseLostError,
  PayloadValidationError,
  ResultValidationError,
  WorkerStoppedError,
  type HoldfastError,
} from "../../core/errors.ts";
import { expiryOf } from "../../core/expiry.ts";
import { describeFailure } from "../../core/failure.ts";
import { encodeJson } from "../../core/json-text.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { LeasedJob } from "../../core/store.ts";
import { MAX_RESULT_BYTES } from "../run/running-job.ts";

/** The other side may ask for patience this often; then a refusal counts as a failed attempt. */
export const MAX_DEFERRALS = 100;

/** A job that must not run (again), decided before its handler starts; null: let it run. */
export function decideBeforeRunning(job: LeasedJob, contract: JobContract): Outcome | null {
  if (job.crashes >= contract.maxCrashes) {
    return endUnrun(job, "poison", `${job.crashes} workers were lost while they ran this job`);
  }
  if (job.exhausted) {
    return endUnrun(job, "crashed", "its worker was lost in its last attempt");
  }
  const expiresAt = expiryOf(job);
  // The fence has the store's clock at the lease, in microseconds: no other clock decides.
  if (expiresAt !== null && job.fence / 1_000 > expiresAt) {
    return { kind: "cancel", reason: "expired" };
  }
  return null;
}

/** `onDropped` hears why a result is not stored. */
export function succeed(value: unknown, onDropped?: (why: unknown) => void): Outcome {
  if (value === undefined) return { kind: "succeed", result: null, resultDropped: false };
  try {
    const result = encodeJson(value, { what: "the result", maxBytes: MAX_RESULT_BYTES });
    return { kind: "succeed", result, resultDropped: false };
  } catch (error) {
    onDropped?.(error);
    // The work is done; a result that cannot be stored does not undo it.
    return { kind: "succeed", result: null, resultDropped: true };
  }
}

export interface FailureContext {
  readonly job: LeasedJob;
  readonly contract: JobContract;
  /** Why the signal had aborted, if it had. */
  readonly abortReason: HoldfastError | null;
  readonly nowMs: number;
  readonly random: number;
}

/** `error` is what the handler threw; null if it was abandoned after its signal aborted. */
export function decideFailure(error: unknown, context: FailureContext): Outcome {
  const { job, contract, abortReason } = context;
  if (abortReason instanceof JobCancelledError) return { kind: "cancel", reason: null };
  if (abortReason instanceof WorkerStoppedError) return { kind: "release", afterMs: 0 };
  // Only of an attempt in doubt: the store was away, which is no fault of the job's.
  if (abortReason instanceof LeaseLostError) return { kind: "release", afterMs: 0 };
  const cause = abortReason instanceof JobTimeoutError ? abortReason : error;

  const { category, permanent, retryAfterMs } = classify(cause, contract, context.nowMs);
  const failure = describeFailure(cause, { type: job.type, category });
  if (cause instanceof PayloadValidationError || cause instanceof ResultValidationError) {
    return { kind: "die", reason: "validation", failure, ran: true };
  }
  if (permanent) return { kind: "die", reason: "permanent", failure, ran: true };
  if (retryAfterMs !== null && job.deferrals < MAX_DEFERRALS) {
    return { kind: "retry", afterMs: retryAfterMs, spend: false, failure };
  }
  if (job.attempt >= job.maxAttempts) return { kind: "die", reason: "failed", failure, ran: true };
  const afterMs = backoffMs(contract.retry, job.attempt, cause, context.random);
  return { kind: "retry", afterMs: Math.max(afterMs, retryAfterMs ?? 0), spend: true, failure };
}

function classify(error: unknown, contract: JobContract, nowMs: number): Classification {
  const ours = classifyError(error, { nowMs });
  try {
    return reclassify(ours, contract.classify?.(error));
  } catch {
    return ours;
  }
}

function endUnrun(job: LeasedJob, reason: string, message: string): Outcome {
  const failure = describeFailure(new Error(message), { type: job.type, category: "unknown" });
  return { kind: "die", reason, failure: { ...failure, stack: null }, ran: false };
}
