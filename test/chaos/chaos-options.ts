/** What a run takes, from the command line or from a test. */
import { parseArgs } from "node:util";
import { CHAOS_STORES, type ChaosStoreName } from "./chaos-store.ts";
import type { StrikeCounts } from "./strikes.ts";

export interface ChaosOptions extends StrikeCounts {
  readonly store: ChaosStoreName;
  readonly seed: number;
  readonly workers: number;
  readonly jobs: number;
  readonly concurrency: number;
  readonly leaseMs: number;
  /** The length of the longer jobs is in parts of this; the longest outlast a lease. */
  readonly unitMs: number;
  /** How soon the jobs of a killed worker must be leasable. */
  readonly recoveryMs: number;
  /** On average between two strikes. */
  readonly spacingMs: number;
  /** A lease of a second may be lost to a busy machine alone. */
  readonly forgiveStalls: boolean;
  /** Leave the folder with the store and all witnesses. */
  readonly keep: boolean;
}

/** Four processes, a lease as everybody has it, a few minutes. */
export const FULL: Omit<ChaosOptions, "seed"> = {
  store: "sqlite",
  workers: 4,
  jobs: 5_000,
  kills: 50,
  stops: 10,
  terms: 5,
  producerKills: 5,
  concurrency: 16,
  leaseMs: 10_000,
  unitMs: 10_000,
  recoveryMs: 12_000,
  spacingMs: 2_200,
  forgiveStalls: false,
  keep: false,
};

/** The same in about fifteen seconds, with a short lease. */
export const QUICK: Omit<ChaosOptions, "seed"> = {
  ...FULL,
  workers: 3,
  jobs: 300,
  kills: 6,
  stops: 2,
  terms: 1,
  producerKills: 1,
  concurrency: 6,
  leaseMs: 1_000,
  unitMs: 2_500,
  spacingMs: 900,
  forgiveStalls: true,
};

export const USAGE = `npm run chaos -- --store ${CHAOS_STORES.join("|")} [options]
  --workers N  --jobs N  --kills N  --stops N  --terms N  --producer-kills N
  --seed N     draw the same jobs and strikes again
  --quick      a lease of one second and few strikes: about twenty seconds
  --keep       leave the store and the witnesses where they are`;

/** Throws an `Error` whose message is for people. */
export function parseOptions(args: readonly string[], drawnSeed: number): ChaosOptions {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ store: text, workers: text, jobs: text, kills: text, stops: text, terms: text },
      ...{ "producer-kills": text, seed: text, quick: flag, keep: flag },
    },
  });
  const defaults = values.quick ? QUICK : FULL;
  const store = CHAOS_STORES.find((name) => name === (values.store ?? defaults.store));
  if (!store) throw new Error(`--store takes ${CHAOS_STORES.join(" or ")}`);
  const whole = (name: string, given: string | undefined, otherwise: number, min = 0): number => {
    const value = given === undefined ? otherwise : Number(given);
    if (Number.isSafeInteger(value) && value >= min) return value;
    throw new Error(`--${name} takes a whole number from ${min} on`);
  };
  return {
    ...defaults,
    store,
    seed: whole("seed", values.seed, drawnSeed),
    // One is struck and one is left.
    workers: whole("workers", values.workers, defaults.workers, 2),
    jobs: whole("jobs", values.jobs, defaults.jobs, 1),
    kills: whole("kills", values.kills, defaults.kills),
    stops: whole("stops", values.stops, defaults.stops),
    terms: whole("terms", values.terms, defaults.terms),
    producerKills: whole("producer-kills", values["producer-kills"], defaults.producerKills),
    keep: values.keep ?? false,
  };
}
