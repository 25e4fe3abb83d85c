/**
 * The property test: random sequences and interleavings of verbs, with the memory store as oracle.
 * Where the conformance suite says what each verb promises, this looks for what nobody thought of. A
 * store's own test file calls it in about ten lines.
 *
 * ```ts
 * import fc from "fast-check";
 * import { describe, it } from "vitest";
 *
 * storeProperties({ describe, it, fc, place: async () => ({ open, advance, dispose }) });
 * ```
 *
 * A failure prints the shortest counterexample that was found and the seed that leads to it again.
 */
import type { StorePlace } from "../../packages/holdfast/src/testing/conformance/index.ts";
import { inTier } from "../runner/tier.ts";
import { checkProperty, type Property } from "./check-property.ts";
import type { Names } from "./draw.ts";
import type { FastCheck } from "./fast-check.ts";
import { drawInterleaving, playInterleaving, type Bout } from "./interleaving.ts";
import { drawSequence, playSequence, type Step } from "./sequence.ts";
import { GROUPS, JOB_IDS } from "./small-world.ts";

export type { FastCheck } from "./fast-check.ts";

export interface PropertyOptions {
  /** From vitest, jest, mocha, node:test: only these two words are used. */
  describe(name: string, body: () => void): void;
  /** The last one is the longest it may take; vitest and jest know it, others need none. */
  it(name: string, body: () => Promise<void>, timeoutMs: number): void;
  /** fast-check. */
  readonly fc: FastCheck;
  /** A fresh, empty place for jobs, for each run. Its clock must stand still but for `advance`. */
  place(): Promise<StorePlace>;
  /**
   * The store has several nodes, and only what concerns one queue is one step (it says so in
   * `info().spawnsElsewhere`). Then one queue is used, and the ledger is another one's concern.
   */
  readonly isSpread?: boolean;
  /**
   * The store has `within`, and its places have `transaction`: a sequence has callers' transactions too. Not
   * so callers at once, because a transaction may keep others waiting.
   */
  readonly hasTransactions?: boolean;
  /** Random runs of each property, unless `HOLDFAST_PROPERTY_RUNS` says otherwise. */
  readonly runs?: number;
  /** Default `HOLDFAST_PROPERTY_SEED`, or 1: the same history for everybody until told otherwise. */
  readonly seed?: number;
  /** What runs the calling test file, for the failure message. */
  readonly command?: string;
}

/** Callers at once are to get into each other's way. */
const FEW_JOBS = JOB_IDS.slice(0, 5);

export function storeProperties({ describe, it, fc, place, ...options }: PropertyOptions): void {
  const {
    runs: usualRuns = inTier({ daily: 50, full: 500 }),
    seed = numberFrom("HOLDFAST_PROPERTY_SEED") ?? 1,
    command = "npx vitest run test/property",
    isSpread = false,
    hasTransactions = false,
  } = options;
  const runs = numberFrom("HOLDFAST_PROPERTY_RUNS") ?? usualRuns;
  const how = { fc, place, runs, seed, command };
  const timeoutMs = 60_000 + 2_000 * runs;

  describe("properties", () => {
    for (const property of [
      sequences("with one line a queue", { groups: GROUPS.slice(0, 1), isSpread, hasTransactions }),
      sequences("with several lines a queue", { groups: GROUPS, isSpread, hasTransactions }),
    ]) {
      it(property.claim, () => checkProperty(property, how), timeoutMs);
    }
    for (const property of [interleavings(2, isSpread), interleavings(3, isSpread)]) {
      it(property.claim, () => checkProperty(property, how), timeoutMs);
    }
  });
}

function sequences(where: string, names: Omit<Names, "ids">): Property<Step> {
  return {
    claim: `a sequence of calls ${where} is answered as the memory store answers it`,
    names: { ids: JOB_IDS, ...names },
    draw: drawSequence,
    play: playSequence,
    describe: ({ caller, operation }) => [[`caller ${caller + 1}`, operation]],
  };
}

function interleavings(callers: number, isSpread: boolean): Property<Bout> {
  return {
    claim: `what ${callers} callers do at once is explained by some order of their calls`,
    names: { ids: FEW_JOBS, groups: GROUPS, isSpread, hasTransactions: false },
    draw: (draw) => drawInterleaving(draw, callers),
    play: (bouts, place) => playInterleaving(bouts, place, callers),
    describe: ({ afterMs, operations }) => [
      ...(afterMs === 0 ? [] : [["clock", { verb: "advance", ms: afterMs }] as const]),
      ...operations.map(
        (operation, index) => [`caller ${(index % callers) + 1}`, operation] as const,
      ),
    ],
  };
}

function numberFrom(variable: string): number | undefined {
  const text = process.env[variable];
  return text === undefined || text === "" ? undefined : Number(text);
}
