/** How fast waiting jobs get done, with a handler that does nothing. */
import { drainVariant, readyFor, usualStretch } from "../drain-variant.ts";
import { type Against, contenderLines, lossLines } from "../lines.ts";
import type { Scenario } from "../scenario.ts";

export interface DrainScenario {
  readonly name: string;
  readonly title: string;
  /** Who takes part, and which share of the usual number of jobs makes as long a stretch for him. */
  readonly shares: Readonly<Record<string, number>>;
  readonly against: readonly Against[];
  readonly keep: boolean;
}

export function drain({ name, title, shares, against, keep }: DrainScenario): Scenario {
  return {
    name,
    title,
    variants: (size) =>
      Object.entries(shares).map(([contender, share]) => {
        const stretch = usualStretch(size, share);
        const prefill = { ready: readyFor(stretch, share) };
        return drainVariant(contender, contender, { stretch, prefill, keep, isRunToTheEnd: true });
      }),
    lines: [...contenderLines(Object.keys(shares), against), ...lossLines("holdfast")],
  };
}
