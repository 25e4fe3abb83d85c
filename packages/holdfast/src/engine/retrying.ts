/** When a call to the store failed: may it succeed later, and how long to wait before it is tried again. */
import { HoldfastError } from "../core/errors.ts";

/** May the same call succeed later? Errors that are not ours are bugs or corrupt data: no. */
export function isRetryable(error: unknown): boolean {
  return error instanceof HoldfastError && error.isRetryable;
}

/** Waits a little longer each time, with chance in it so that workers do not march in step. */
export function retryDelayMs(failures: number, random: number): number {
  return Math.min(50 * 2 ** Math.min(failures - 1, 5), 1_000) * (0.5 + random / 2);
}
