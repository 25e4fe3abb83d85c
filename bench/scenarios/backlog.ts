/** What the backlog does to the drain: its length, its groups, and jobs that are held back. */
import { drainVariant, readyFor, usualStretch, type DrainOptions } from "../drain-variant.ts";
import { pairLines } from "../lines.ts";
import type { Prefill, Scenario, Size, Variant } from "../scenario.ts";

/**
 * Several short stretches instead of one, each on a store that is opened anew: ten thousand jobs do
 * not last longer, and both sides must be treated alike. The million is used up in place from round to
 * round, so it begins with as much more as all rounds take out of it.
 */
export const waiting: Scenario = {
  name: "waiting",
  title: "drain with 1 million jobs waiting, against 10 thousand",
  variants({ quick, rounds }) {
    const [few, many, laps] = quick ? [5_000, 20_000, 1] : [10_000, 1_000_000, 3];
    const stretch = { skip: few * 0.1, count: few * 0.6 };
    const options = { stretch, laps, keep: true };
    const prefill = { ready: many + rounds * laps * few, inPlace: true };
    return [
      drainVariant("10k waiting", "holdfast", { ...options, prefill: { ready: few } }),
      drainVariant("1M waiting", "holdfast", { ...options, prefill }),
    ];
  },
  lines: pairLines("1M waiting", "10k waiting", { atLeast: 0.85 }),
};

export const groups: Scenario = {
  name: "groups",
  title: "drain with the jobs in 1,000 random groups, against no groups",
  variants: (size) => [
    backlogVariant("no groups", size, {}),
    backlogVariant("1,000 groups", size, { groups: 1_000 }),
  ],
  lines: pairLines("1,000 groups", "no groups", { atLeast: 0.7 }),
};

export const held: Scenario = {
  name: "held",
  title: "drain beside 100 thousand jobs in 10 held lines, against none held",
  variants: (size) => [
    backlogVariant("none held", size, {}),
    backlogVariant("100k held", size, { held: size.quick ? 1_000 : 100_000 }),
  ],
  lines: pairLines("100k held", "none held", { atLeast: 0.85 }),
};

function backlogVariant(label: string, size: Size, more: Omit<Prefill, "ready">): Variant {
  const stretch = usualStretch(size);
  const options: DrainOptions = {
    stretch,
    prefill: { ready: readyFor(stretch), ...more },
    keep: true,
  };
  return drainVariant(label, "holdfast", options);
}
