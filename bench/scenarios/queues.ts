/**
 * A store that has seen thousands of queues, one for each customer or machine, of which one has work now.
 * Neither its drain nor the upkeep of all the others may cost more for it.
 */
import type { Retention } from "../../packages/holdfast/src/core/store.ts";
import type { Session } from "../contender.ts";
import { drainVariant, readyFor, usualStretch } from "../drain-variant.ts";
import { lossLines, pairLines } from "../lines.ts";
import type { Line, Metrics, Scenario, Size, Variant } from "../scenario.ts";
import { percentile } from "../statistics.ts";

const MANY = "5k queues on record";
const ONE = "one queue";
const MOST_MS = 10_000;
const DAY_MS = 86_400_000;
const PRUNES = 5;
/** At most so many at once, as the chore has it. */
const PRUNE_STEP = 1_000;
/** What Holdfast keeps by default. */
const POLICIES: readonly Retention[] = [
  { queue: null, status: "succeeded", olderThanMs: 30 * DAY_MS, keep: null },
  { queue: null, status: "dead", olderThanMs: 14 * DAY_MS, keep: null },
  { queue: null, status: "cancelled", olderThanMs: 14 * DAY_MS, keep: null },
];

export const queues: Scenario = {
  name: "queues",
  title: "drain, and a prune that finds nothing, with 5 thousand queues on record, against one",
  mostRounds: 5,
  variants: (size) => [variant(ONE, 0, size), variant(MANY, size.quick ? 100 : 5_000, size)],
  lines: [
    ...pairLines(MANY, ONE, { atLeast: 0.8 }),
    pruneLine(ONE),
    { ...pruneLine(MANY), target: { below: 50 } },
    ...lossLines(ONE, MANY),
  ],
};

function pruneLine(variant: string): Line & { readonly kind: "figure" } {
  const label = `a prune, ${variant}`;
  return { kind: "figure", label, unit: "ms", variant, metric: "pruneMs" };
}

function variant(label: string, others: number, size: Size): Variant {
  const stretch = { ...usualStretch(size), mostMs: MOST_MS };
  const prefill = { ready: readyFor(stretch), ...(others > 0 ? { queues: others } : {}) };
  const options = { stretch, prefill, isRunToTheEnd: true, afterwards: timePrunes };
  return drainVariant(label, "holdfast", options);
}

async function timePrunes({ store }: Session): Promise<Metrics> {
  if (!store) throw new Error("only Holdfast has a prune");
  const tookMs: number[] = [];
  for (let prune = 0; prune <= PRUNES; prune += 1) {
    const beganAt = performance.now();
    const pruned = await store.prune(POLICIES, PRUNE_STEP);
    tookMs.push(performance.now() - beganAt);
    if (pruned > 0) throw new Error(`${pruned} jobs were pruned, though none is old enough`);
  }
  // The first is not counted: its statements are not prepared yet.
  return { pruneMs: percentile(tookMs.slice(1), 0.5) };
}
