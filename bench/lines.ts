/** Lines that many reports share. */
import type { Line, Source, Target } from "./scenario.ts";

export interface Against {
  /** Names of contenders; the fastest of them counts. */
  readonly names: readonly string[];
  /** What they are called together. By default their names. */
  readonly as?: string;
  readonly target?: Target;
}

/** Each contender's rate, then Holdfast's as a share or a multiple of the others'. */
export function contenderLines(contenders: readonly string[], against: readonly Against[]): Line[] {
  return [...rates(...contenders), ...against.map((others) => ratio("holdfast", others))];
}

/** Two variants of Holdfast, and how the harder one stands against the easier one. */
export function pairLines(of: string, by: string, target?: Target): Line[] {
  return [...rates(by, of), ratio(of, { names: [by], ...(target ? { target } : {}) })];
}

/** What a drain that was run to its last job must not have; of Holdfast's it is asked. */
export function lossLines(...judged: string[]): Line[] {
  return [
    { kind: "totals", label: "jobs lost", metric: "lost", judged },
    { kind: "totals", label: "jobs run twice", metric: "twice", judged },
  ];
}

export function rates(...variants: string[]): Line[] {
  return variants.map((label) => ({ kind: "figure", label, unit: "jobs/s", ...rateOf(label) }));
}

function rateOf(variant: string): Source {
  return { variant, metric: "jobsPerSecond" };
}

export function ratio(of: string, { names, as, target }: Against): Line {
  return {
    kind: "ratio",
    label: `${of} ÷ ${as ?? names.join(", ")}`,
    of: rateOf(of),
    by: names.map(rateOf),
    ...(target ? { target } : {}),
  };
}
