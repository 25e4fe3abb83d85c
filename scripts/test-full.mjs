/** `npm run test:full`: every test with its full counts, and the long runs that have commands of their own. */
import { FULL_STEPS } from "../test/runner/full-steps.ts";
import { runSteps } from "../test/runner/run-steps.ts";

process.exitCode = await runSteps(FULL_STEPS, console.log);
