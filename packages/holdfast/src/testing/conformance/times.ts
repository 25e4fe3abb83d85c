/**
 * The durations of the suite. A real server's clock cannot be moved: `advance` then waits, and time
 * also passes between two calls. So a scenario that needs something to end uses SHORT_MS and
 * advances by PASSED_MS, one that needs it to last uses LONG_MS, and none asks for an exact instant.
 */

/** Over after PASSED_MS; a scenario never relies on it not being over yet. */
export const SHORT_MS = 60;
/** Surely past SHORT_MS. */
export const PASSED_MS = 80;
/** Longer than any scenario takes. */
export const LONG_MS = 60_000;
/** Enough for two instants to differ on a clock of milliseconds. */
export const TICK_MS = 5;
/** For times in the past. */
export const HOUR_MS = 3_600_000;
