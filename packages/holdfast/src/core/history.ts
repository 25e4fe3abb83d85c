/**
 * A job's history: one record per ended attempt, the last `HISTORY_LENGTH` of them. What was taken
 * back (snooze, release, never started) leaves none, and neither does the common case, a success at
 * the first attempt: there the job itself tells everything.
 */
import { HISTORY_LENGTH, type AttemptRecord, type Failure } from "./job.ts";
import type { Outcome } from "./outcome.ts";

/** What a record takes from the job whose attempt ends. */
export interface Ending {
  readonly attempts: number;
  readonly fence: number;
  readonly worker?: string | null;
  readonly startedAt?: number | null;
  readonly history?: readonly AttemptRecord[] | null;
}

/** How an outcome is recorded; null: not at all. */
export function recordedAs(
  { attempts }: Pick<Ending, "attempts">,
  outcome: Outcome,
): AttemptRecord["outcome"] | null {
  switch (outcome.kind) {
    case "succeed":
      return attempts === 1 ? null : "succeeded";
    case "retry":
      return "failed";
    case "die":
      return outcome.ran ? "failed" : null;
    case "cancel":
      return "cancelled";
    case "snooze":
    case "release":
      return null;
  }
}

/** The history with the attempt that ends now. To be called before anything of it is given back. */
export function historyWith(
  job: Ending,
  how: {
    readonly outcome: AttemptRecord["outcome"];
    readonly failure: Failure | null;
    readonly now: number;
  },
): AttemptRecord[] {
  const ended: AttemptRecord = {
    attempt: job.attempts,
    fence: job.fence,
    worker: job.worker ?? "",
    startedAt: job.startedAt ?? how.now,
    endedAt: how.now,
    outcome: how.outcome,
    category: how.failure?.category ?? null,
    message: how.failure?.message ?? null,
    stack: how.failure?.stack ?? null,
  };
  return [...(job.history ?? []), ended].slice(-HISTORY_LENGTH);
}
