/**
 * Calls to several slots go out together. When one fails and another did not, the verb has been done in
 * part: nobody may be told that nothing happened.
 */
import { StoreUnavailableError } from "../../core/errors.ts";

export async function eachAtOnce<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const results = await Promise.allSettled(items.map(work));
  const failures = results.filter((result) => result.status === "rejected");
  const [first] = failures;
  if (first === undefined) return;
  const error: unknown = first.reason;
  if (failures.length === results.length || !(error instanceof Error)) throw error;
  throw new StoreUnavailableError(`done in part: ${error.message}`, {
    cause: error,
    mayHaveHappened: true,
  });
}
