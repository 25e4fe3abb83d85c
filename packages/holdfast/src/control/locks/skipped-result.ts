import type { Skipped } from "../../core/lock.ts";

/** The result of a job that did not run: its work runs already, or is done. */
export interface SkippedResult {
  readonly skipped: Skipped;
}

/** Is this the result of a job that its lock skipped? */
export function isSkipped(result: unknown): result is SkippedResult {
  const { skipped } = Object(result) as { readonly skipped?: unknown };
  return skipped === "already_running" || skipped === "already_completed";
}
