/** Lines that many reports share. */
import type { Line, Source, Target } from "./scenario.ts";

export function rateOf(variant: string): Source {
  return { variant, metric: "jobsPerSecond" };
}

/** Each contender's rate, then Holdfast's as a share or a multiple of the others'. */
export function contenderLines(targets: {
  readonly raw?: number;
  readonly plainjob?: number;
}): Line[] {
  return [
    ...rates("raw", "plainjob", "holdfast"),
    ...(["raw", "plainjob"] as const).map((other) =>
      ratio("holdfast", other, targets[other] === undefined ? null : { atLeast: targets[other] }),
    ),
  ];
}

/** Two variants of Holdfast, and how the harder one stands against the easier one. */
export function pairLines(of: string, by: string, target: Target): Line[] {
  return [...rates(by, of), ratio(of, by, target)];
}

function rates(...variants: string[]): Line[] {
  return variants.map((label) => ({ kind: "figure", label, unit: "jobs/s", ...rateOf(label) }));
}

function ratio(of: string, by: string, target: Target | null): Line {
  return {
    kind: "ratio",
    label: `${of} ÷ ${by}`,
    of: rateOf(of),
    by: rateOf(by),
    ...(target ? { target } : {}),
  };
}
