/** For a user's own tests: `testHoldfast()`, virtual time, no waiting. */
export { DrainTimeoutError } from "../core/errors.ts";
export {
  testHoldfast,
  type EnqueuedJob,
  type TestHoldfast,
  type TestHoldfastOptions,
} from "./test-holdfast.ts";
