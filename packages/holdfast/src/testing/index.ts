/** For a user's own tests: `testHoldfast()`, virtual time, no waiting. */
export { DrainTimeoutError } from "../core/errors.ts";
export type { DeadLetter, EnqueuedJob, TickedSchedule } from "./notes.ts";
export { testHoldfast, type TestHoldfast, type TestHoldfastOptions } from "./test-holdfast.ts";
