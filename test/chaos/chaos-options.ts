/** What a run takes, from the command line or from a test. */
import { parseArgs } from "node:util";
import { CHAOS_STORES, chaosPlan, type ChaosStoreName } from "./chaos-store.ts";
import type { StrikeCounts } from "./strikes.ts";

export interface ChaosOptions extends StrikeCounts {
  readonly store: ChaosStoreName;
  readonly seed: number;
  readonly workers: number;
  readonly jobs: number;
  readonly concurrency: number;
  /** Of a hundred jobs so many settle in a transaction of their handler. */
  readonly transactions: number;
  readonly leaseMs: number;
  /** The length of the longer jobs is in parts of this; the longest outlast a lease. */
  readonly unitMs: number;
  /** How soon the jobs of a killed worker must be leasable. */
  readonly recoveryMs: number;
  /** How soon every worker must take a new job after it can reach the store again. */
  readonly healMs: number;
  /** How long the server keeps a transaction open whose client is gone. */
  readonly transactionMs: number;
  /** On average between two strikes. */
  readonly spacingMs: number;
  /** A lease of a second may be lost to a busy machine alone. */
  readonly forgiveStalls: boolean;
  /** Leave the folder with the store and all witnesses. */
  readonly keep: boolean;
}

type Settings = Omit<
  ChaosOptions,
  keyof StrikeCounts | "store" | "seed" | "healMs" | "transactions" | "transactionMs"
>;

/** Four processes, a lease as everybody has it, a few minutes. */
const FULL: Settings = {
  workers: 4,
  jobs: 5_000,
  concurrency: 16,
  leaseMs: 10_000,
  unitMs: 10_000,
  recoveryMs: 12_000,
  spacingMs: 2_200,
  forgiveStalls: false,
  keep: false,
};

/** The same in less than half a minute, with a short lease. */
const QUICK: Settings = {
  ...FULL,
  workers: 3,
  jobs: 300,
  concurrency: 6,
  leaseMs: 1_000,
  unitMs: 2_500,
  spacingMs: 900,
  forgiveStalls: true,
};
/** A restart takes a second or two, and must not be longer than a lease. */
const QUICK_SERVER = { leaseMs: 3_000, recoveryMs: 14_000 };
/** Among other tests on few cores, everything may take so many times longer. The full run is strict. */
const QUICK_PATIENCE = 3;

/** What a run on this store does, unless told otherwise. */
export function defaultsFor(
  store: ChaosStoreName,
  { isQuick }: { readonly isQuick: boolean },
): Omit<ChaosOptions, "seed"> {
  const { full, quick, healMs, transactions, transactionMs = 0 } = chaosPlan(store);
  if (!isQuick) {
    const within = { transactions: transactions?.full ?? 0, transactionMs };
    return { store, ...FULL, ...full, healMs, ...within };
  }
  const isServer = quick.outages > 0;
  const settings = { ...QUICK, ...(isServer && QUICK_SERVER) };
  const recoveryMs = settings.recoveryMs * QUICK_PATIENCE;
  return {
    ...{ store, ...settings, ...quick, recoveryMs, healMs: healMs * QUICK_PATIENCE },
    ...{ transactions: transactions?.quick ?? 0, transactionMs },
  };
}

export const USAGE = `npm run chaos -- --store ${CHAOS_STORES.join("|")} [options]
npm run chaos -- --all [options]
  --workers N  --jobs N  --kills N  --stops N  --terms N  --producer-kills N
  --faults N   cut off one process: cut, hole, slow, deaf
  --restarts N  --server-kills N  --outages N
  --failovers N    redis-failover: planned, behind an address that follows the primary
  --moves N        redis-cluster: slots to and fro, and a node more
  --transactions N postgres, mongodb: of a hundred jobs so many settle in a transaction
  --commit-kills N of workers right after such a commit
  --seed N     draw the same jobs and strikes again
  --quick      a short lease and few strikes: about half a minute
  --keep       leave the store and the witnesses where they are, as after a finding`;

/** One run for each store that was asked for. Throws an `Error` whose message is for people. */
export function parseOptions(args: readonly string[], drawnSeed: number): ChaosOptions[] {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ store: text, workers: text, jobs: text, kills: text, stops: text, terms: text },
      ...{ "producer-kills": text, faults: text, restarts: text, "server-kills": text },
      ...{ failovers: text, moves: text, transactions: text, "commit-kills": text },
      ...{ outages: text, seed: text, all: flag, cluster: flag, quick: flag, keep: flag },
    },
  });
  const asked = `${values.store ?? "sqlite"}${values.cluster ? "-cluster" : ""}`;
  const stores = CHAOS_STORES.filter((name) => values.all === true || name === asked);
  if (stores.length === 0) throw new Error(`--store takes ${CHAOS_STORES.join(" or ")}`);
  const whole = (name: keyof typeof values, otherwise: number, min = 0): number => {
    const value = values[name] === undefined ? otherwise : Number(values[name]);
    if (Number.isSafeInteger(value) && value >= min) return value;
    throw new Error(`--${name} takes a whole number from ${min} on`);
  };
  return stores.map((store) => {
    const defaults = defaultsFor(store, { isQuick: values.quick ?? false });
    return {
      ...defaults,
      seed: whole("seed", drawnSeed),
      // One is struck and one is left.
      workers: whole("workers", defaults.workers, 2),
      jobs: whole("jobs", defaults.jobs, 1),
      kills: whole("kills", defaults.kills),
      stops: whole("stops", defaults.stops),
      terms: whole("terms", defaults.terms),
      producerKills: whole("producer-kills", defaults.producerKills),
      faults: whole("faults", defaults.faults),
      restarts: whole("restarts", defaults.restarts),
      serverKills: whole("server-kills", defaults.serverKills),
      outages: whole("outages", defaults.outages),
      failovers: whole("failovers", defaults.failovers),
      moves: whole("moves", defaults.moves),
      transactions: whole("transactions", defaults.transactions),
      commitKills: whole("commit-kills", defaults.commitKills),
      keep: values.keep ?? false,
    };
  });
}
