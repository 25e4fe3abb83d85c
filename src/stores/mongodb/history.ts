/**
 * A job's history: one record per ended attempt, the last `HISTORY_LENGTH` of them. What was taken
 * back (snooze, release, never started) leaves none, and neither does a success at the first attempt:
 * there the job itself tells everything.
 */
import { HISTORY_LENGTH, type AttemptRecord, type Failure } from "../../core/job.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Changes } from "./edit.ts";
import type { JobDocument } from "./schema.ts";

/** How an outcome is recorded; null: not at all. */
export function recordedAs(job: JobDocument, outcome: Outcome): AttemptRecord["outcome"] | null {
  switch (outcome.kind) {
    case "succeed":
      return job.attempts === 1 ? null : "succeeded";
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

/** Adds the attempt that ends now. To be called before anything of it is given back. */
export function record(
  job: JobDocument,
  how: {
    readonly outcome: AttemptRecord["outcome"];
    readonly failure: Failure | null;
    readonly now: number;
  },
): Changes {
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
  return { history: [...(job.history ?? []), ended].slice(-HISTORY_LENGTH) };
}
