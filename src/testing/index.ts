/** For a user's own tests: `testHoldfast()`, virtual time, no waiting. */
export {
  DrainTimeoutError,
  testHoldfast,
  type EnqueuedJob,
  type TestHoldfast,
  type TestHoldfastOptions,
} from "./test-holdfast.ts";
