/**
 * Our own store is away for a moment. That is no fault of the job and says nothing of the other side: the attempt is
 * not spent, and neither the cooldown nor the breaker of the outbound gate hears of it. As the 429 that it would
 * otherwise be taken for, it would hold back every call of the fleet and thin out activities.
 */
import { RetryAfterError, type JobOptions } from "holdfast";
import { isAway } from "./records-desk.ts";

const BACK_IN_MS = 1_000;

export class StoreAwayError extends RetryAfterError {}

/** The job comes back later, and its attempt is not spent. */
export async function unspent<Out>(work: () => Promise<Out>): Promise<Out> {
  try {
    return await work();
  } catch (error) {
    if (isAway(error)) throw new StoreAwayError(BACK_IN_MS, "the store was away for a moment");
    throw error;
  }
}

/** The caller's `classify`, for everything that is not ours. */
export function classifyOurs(theirs: JobOptions["classify"]): NonNullable<JobOptions["classify"]> {
  return (error) =>
    error instanceof StoreAwayError || isAway(error)
      ? { category: "unknown", retryAfterMs: BACK_IN_MS }
      : theirs?.(error);
}
