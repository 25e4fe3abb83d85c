import { setTimeout as sleep } from "node:timers/promises";
import { ClosedError, StoreUnavailableError } from "../../core/errors.ts";
import { isBusy } from "./sqlite-error.ts";

/** A step that found the database taken, where SQLite does not throw. */
export const BUSY = Symbol("busy");

/**
 * Repeats a step that somebody else's lock keeps from being done, without stopping the event loop,
 * until it is done, the deadline has passed, or nobody wants it any more.
 */
export async function retryWhileBusy<T>(
  deadlineMs: number,
  step: () => T | typeof BUSY,
  isGivenUp: () => boolean = () => false,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    try {
      const done = step();
      if (done !== BUSY) return done;
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    if (isGivenUp())
      throw new ClosedError("the SQLite store was closed while it waited for a lock");
    if (performance.now() - start >= deadlineMs) {
      throw new StoreUnavailableError(
        `another connection has held the database's lock for ${deadlineMs} ms: commit or close it, or raise busyDeadlineMs`,
        { mayHaveHappened: false },
      );
    }
    await sleep(1 + 2 * Math.random());
  }
}
