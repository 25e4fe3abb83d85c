/**
 * The simulator from the command line:
 *
 *   npm run sim -- --seed 1 --steps 1000000 --store memory|sqlite [--runs 20] [--control]
 *   npm run sim:long                 seed after seed until it is stopped or a promise is broken
 *   npm run sim:planted [-- --bug lease-to-two [--seed 3]]
 */
import { parseArgs } from "node:util";
import type { MakeBacking } from "./backing.ts";
import { PLANTED_BUGS } from "./planted/all-planted.ts";
import { catchPlanted, PLANTED_BOUNDS, runPlanted } from "./planted/catch-planted.ts";
import { failureText, summaryText } from "./report.ts";
import { runSimulation, type SimulationReport } from "./run.ts";

const DEFAULT_STEPS = 100_000;
const LONG_STEPS = 40_000;

export interface CliOptions {
  /** By the name that `--store` takes; called anew for every run. */
  readonly stores: Readonly<Record<string, () => MakeBacking>>;
  readonly say: (text: string) => void;
}

/** Answers the exit code. */
export async function simulatorCli(args: readonly string[], options: CliOptions): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string" },
      steps: { type: "string" },
      store: { type: "string", default: "memory" },
      runs: { type: "string", default: "1" },
      long: { type: "boolean", default: false },
      planted: { type: "boolean", default: false },
      bug: { type: "string" },
      control: { type: "boolean", default: false },
    },
  });
  const seed = values.seed === undefined ? null : wholeNumber("--seed", values.seed);
  const steps = values.steps === undefined ? null : wholeNumber("--steps", values.steps);
  if (values.planted || values.bug !== undefined) {
    return plantedRuns({ ...options, only: values.bug ?? null, seed, steps });
  }
  return runs({
    ...options,
    store: values.store,
    first: seed ?? 1,
    isUnderControl: values.control,
    count: values.long ? Infinity : wholeNumber("--runs", values.runs),
    steps: steps ?? (values.long ? LONG_STEPS : DEFAULT_STEPS),
  });
}

async function runs(
  options: CliOptions & {
    readonly store: string;
    readonly first: number;
    readonly count: number;
    readonly steps: number;
    readonly isUnderControl: boolean;
  },
): Promise<number> {
  const { store, first, count, steps, say, isUnderControl } = options;
  const makeStore = options.stores[store];
  if (!makeStore) throw new Error(`--store is one of ${Object.keys(options.stores).join(", ")}`);
  for (let seed = first; seed < first + count; seed += 1) {
    const startedAt = performance.now();
    let spokeAt = startedAt;
    const report = await runSimulation({
      seed,
      ...{ steps, isUnderControl },
      makeBacking: makeStore(),
      onProgress: (progress) => {
        if (performance.now() - spokeAt < 5_000) return;
        spokeAt = performance.now();
        say(`seed ${seed}: ${progress.steps} of ${steps} steps`);
      },
    });
    const seconds = (performance.now() - startedAt) / 1_000;
    if (report.violation) {
      const control = isUnderControl ? " --control" : "";
      const command = `npm run sim -- --seed ${seed} --steps ${steps} --store ${store}${control}`;
      say(failureText(report, command));
      return 1;
    }
    say(summaryText(report, { store, seconds, isShort: count > 1 }));
  }
  return 0;
}

async function plantedRuns(
  options: Pick<CliOptions, "say"> & {
    readonly only: string | null;
    readonly seed: number | null;
    readonly steps: number | null;
  },
): Promise<number> {
  const { say, only, seed } = options;
  const bugs = PLANTED_BUGS.filter(({ name }) => only === null || name === only);
  if (bugs.length === 0) throw new Error(`there is no planted bug "${only}"`);
  const bounds = { ...PLANTED_BOUNDS, ...(options.steps !== null && { steps: options.steps }) };
  let escaped = 0;
  for (const bug of bugs) {
    let report: SimulationReport | null;
    if (seed === null) report = await catchPlanted(bug, bounds);
    else report = await runPlanted(bug, { seed, steps: bounds.steps });
    if (!report?.violation) escaped += 1;
    const verdict = report?.violation
      ? `${report.violation.invariant} (seed ${report.seed})`
      : "NOT CAUGHT";
    say(`${bug.name.padEnd(24)} → ${verdict}`);
    if (only === null || !report?.violation) continue;
    const { steps } = bounds;
    const command = `npm run sim -- --bug ${bug.name} --seed ${report.seed} --steps ${steps}`;
    say(failureText(report, command));
  }
  say(`${bugs.length - escaped} of ${bugs.length} planted bugs were caught`);
  return escaped === 0 ? 0 : 1;
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text.replaceAll("_", ""));
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`${name} takes a whole number, not "${text}"`);
}
