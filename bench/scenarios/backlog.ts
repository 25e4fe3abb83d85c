/** What the backlog does to Holdfast's drain: its length, its groups, and jobs that cannot run now. */
import { drainVariant, readyFor, usualStretch } from "../drain-variant.ts";
import { lossLines, pairLines, rates } from "../lines.ts";
import type { Prefill, Scenario, Size, Variant } from "../scenario.ts";

/**
 * Several short stretches instead of one, each on a store that is opened anew: ten thousand jobs do
 * not last longer, and both sides must be treated alike. The million is used up in place from round to
 * round, and what a worker gave back when it was stopped is run before the next stretch begins. It does not begin with more: above 1,048,576 entries Redis doubles the table of a hash, little by
 * little, and everything that touches it is slower meanwhile (docs/performance.md).
 */
export const waiting: Scenario = {
  name: "waiting",
  title: "drain with 1 million jobs waiting, against 10 thousand",
  variants(size) {
    const [few, many] = size.quick ? [5_000, 20_000] : [10_000, 1_000_000];
    const stretch = { skip: few * 0.25, count: few * 0.5 };
    const options = { stretch, laps: lapsOf(size) };
    const prefill = { ready: many, inPlace: true };
    return [
      drainVariant("10k waiting", "holdfast", { ...options, prefill: { ready: few } }),
      drainVariant("1M waiting", "holdfast", { ...options, prefill }),
    ];
  },
  lines: pairLines("1M waiting", "10k waiting", { atLeast: 0.85 }),
};

/**
 * In laps too: longer stretches would make longer lines, and one is over within a second. With a cap for
 * every group, it is shown beside the others; nothing is asked of it.
 */
export function groups(target: number, { withCap = false } = {}): Scenario {
  const capped = "1,000 groups, cap 2 each";
  return {
    name: "groups",
    title: "drain with the jobs in 1,000 random groups, against no groups",
    variants(size) {
      const laps = lapsOf(size);
      return [
        backlogVariant("no groups", size, { laps }),
        backlogVariant("1,000 groups", size, { groups: 1_000, laps }),
        ...(withCap ? [backlogVariant(capped, size, { groups: 1_000, perGroup: 2 })] : []),
      ];
    },
    lines: [
      ...pairLines("1,000 groups", "no groups", { atLeast: target }),
      ...(withCap ? rates(capped) : []),
      ...lossLines("no groups", "1,000 groups", capped),
    ],
  };
}

/** A drain that does not get this far in time is measured by what it did get done. */
const MOST_MS = 10_000;
const MOST_ROUNDS = 5;

/** As many lines as a service with customers has, each of which may have one job running. */
export const capped: Scenario = {
  name: "capped",
  title: "drain of 10 thousand groups with a cap of 1 each, against no cap",
  mostRounds: MOST_ROUNDS,
  variants(size) {
    const groups = size.quick ? 500 : 10_000;
    return [
      backlogVariant("no cap", size, { groups, mostMs: MOST_MS }),
      backlogVariant("cap 1 each", size, { groups, perGroup: 1, mostMs: MOST_MS }),
    ];
  },
  lines: [
    ...pairLines("cap 1 each", "no cap", { atLeast: 0.4 }),
    ...lossLines("no cap", "cap 1 each"),
  ],
};

const FREE_LINES = 100;

/** In few held lines there may be many jobs, and there may be many held lines: each has its price. */
export const held: Scenario = {
  name: "held",
  title: "drain of 100 free lines beside held ones: 10 thousand, or 100 thousand jobs in 10",
  mostRounds: MOST_ROUNDS,
  variants(size) {
    const free = { groups: FREE_LINES, mostMs: MOST_MS };
    const lines = size.quick ? 200 : 10_000;
    const jobs = size.quick ? 1_000 : 100_000;
    return [
      backlogVariant("none held", size, free),
      backlogVariant("10k held lines", size, { ...free, held: { jobs: lines, lines } }),
      backlogVariant("100k held jobs", size, { ...free, held: { jobs, lines: 10 } }),
    ];
  },
  lines: [
    ...pairLines("10k held lines", "none held", { atLeast: 0.7 }),
    ...pairLines("100k held jobs", "none held", { atLeast: 0.85 }).slice(1),
    ...lossLines("none held", "10k held lines", "100k held jobs"),
  ],
};

export const beside: Scenario = {
  name: "beside",
  title: "drain beside 100 thousand delayed and a million finished jobs, against none of them",
  variants: (size) => [
    backlogVariant("alone", size, {}),
    backlogVariant("beside them", size, {
      delayed: size.quick ? 1_000 : 100_000,
      finished: size.quick ? 5_000 : 1_000_000,
    }),
  ],
  lines: [
    ...pairLines("beside them", "alone", { atLeast: 0.85 }),
    ...lossLines("alone", "beside them"),
  ],
};

interface Backlog extends Omit<Prefill, "ready"> {
  readonly laps?: number;
  readonly mostMs?: number;
}

function backlogVariant(label: string, size: Size, backlog: Backlog): Variant {
  const { laps = 1, mostMs, ...more } = backlog;
  const stretch = { ...usualStretch(size), ...(mostMs === undefined ? {} : { mostMs }) };
  const prefill = { ready: readyFor(stretch), ...more };
  return drainVariant(label, "holdfast", { stretch, laps, prefill, isRunToTheEnd: true });
}

function lapsOf({ quick }: Size): number {
  return quick ? 1 : 3;
}
