/** Turns rounds into a table for people and an object for programs. */
import type { Rounds } from "./rounds.ts";
import type { Line, Metrics, Source, Target } from "./scenario.ts";
import { percentile, spreadOf, type Spread } from "./statistics.ts";

export interface ReportLine {
  readonly scenario: string;
  readonly label: string;
  readonly unit: string;
  /** A series has none. */
  readonly spread: Spread | null;
  readonly series?: readonly number[];
  readonly target?: Target;
  readonly met?: boolean;
}

/** A line without measurements (a contender that is not installed) is left out. */
export function reportLines(rounds: Rounds): ReportLine[] {
  return rounds.scenario.lines.flatMap((line) => {
    const reported = reportLine(line, rounds);
    return reported ? [{ scenario: rounds.scenario.name, ...reported }] : [];
  });
}

function reportLine(
  line: Line,
  { samples }: Pick<Rounds, "samples">,
): Omit<ReportLine, "scenario"> | null {
  switch (line.kind) {
    case "figure": {
      const values = numbers(samples, line);
      return values && { label: line.label, unit: line.unit, ...judged(values, line.target) };
    }
    case "ratio": {
      const of = numbers(samples, line.of);
      const by = numbers(samples, line.by);
      if (!of || !by) return null;
      const values = of.map((value, round) => value / (by[round] ?? Number.NaN));
      return { label: line.label, unit: "×", ...judged(values, line.target) };
    }
    case "series": {
      const all = samples.get(line.variant)?.map((metrics) => metrics[line.metric]);
      const rows = all?.filter((row) => Array.isArray(row));
      if (!rows?.[0]) return null;
      const series = rows[0].map((_, at) =>
        percentile(
          rows.map((row) => row[at] ?? Number.NaN),
          0.5,
        ),
      );
      return { label: line.label, unit: line.unit, spread: null, series };
    }
  }
}

function numbers(
  samples: ReadonlyMap<string, readonly Metrics[]>,
  { variant, metric }: Source,
): number[] | null {
  const measured = samples.get(variant);
  return measured ? measured.map((metrics) => Number(metrics[metric])) : null;
}

function judged(
  values: readonly number[],
  target: Target | undefined,
): Pick<ReportLine, "spread" | "target" | "met"> {
  const spread = spreadOf(values);
  if (!target) return { spread };
  const met = "atLeast" in target ? spread.median >= target.atLeast : spread.median < target.below;
  return { spread, target, met };
}

/** Aligned columns: what, median, unit, spread, target, verdict. */
export function table(rounds: Rounds, lines: readonly ReportLine[]): string {
  const { scenario, tookMs } = rounds;
  const count = `${rounds.rounds} round${rounds.rounds === 1 ? "" : "s"}`;
  const head = `${scenario.name}: ${scenario.title}  (${count}, ${Math.round(tookMs / 1_000)} s)`;
  const rows = lines.map(({ label, unit, spread, series, target, met }) => {
    if (!spread)
      return [label, (series ?? []).map((value) => shown(value)).join(" "), unit, "", "", ""];
    const { median, min, max } = spread;
    return [
      label,
      shown(median),
      unit,
      rounds.rounds > 1 ? `${shown(min)} – ${shown(max)}` : "",
      target ? ("atLeast" in target ? `at least ${target.atLeast}` : `below ${target.below}`) : "",
      met === undefined ? "" : met ? "met" : "MISSED",
    ];
  });
  if (rows.length === 0) return `${head}\n  left out: none of its contenders takes part`;
  return [head, ...aligned(rows)].join("\n");
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = [0, 1, 2, 3, 4, 5].map((column) =>
    Math.max(
      ...rows.map((row) => (isSeries(row) && column === 1 ? 0 : (row[column]?.length ?? 0))),
    ),
  );
  return rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === 1 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    );
    return `  ${cells.join("  ")}`.trimEnd();
  });
}

/** A series is long and must not push the other rows apart. */
function isSeries(row: readonly string[]): boolean {
  return (row[1] ?? "").includes(" ");
}

function shown(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString("en-US");
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}
