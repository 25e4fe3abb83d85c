/** What `npm run test:full` runs, in this order: what is soon done comes before what takes long. */
import type { Step } from "./run-steps.ts";

const FULL_COUNTS = { HOLDFAST_TEST_TIER: "full" };

export const FULL_STEPS: readonly Step[] = [
  { name: "every test with its full counts", args: ["test:all"], env: FULL_COUNTS },
  { name: "each planted bug, by the command", args: ["sim:planted"] },
  { name: "1,000,000 steps of the simulator on memory", args: sim("memory", 1_000_000) },
  { name: "200,000 steps of the simulator on SQLite", args: sim("sqlite", 200_000) },
  { name: "chaos on every store, with all its strikes", args: ["chaos", "--", "--all"] },
].map(({ args, ...step }) => ({ ...step, command: "npm", args: ["run", "--silent", ...args] }));

function sim(store: string, steps: number): string[] {
  return ["sim", "--", "--store", store, "--steps", String(steps)];
}
