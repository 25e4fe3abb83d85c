/** Turns rounds into a table for people and an object for programs. */
import type { Rounds } from "./rounds.ts";
import type { Line, Metrics, Source, Target } from "./scenario.ts";
import { percentile, spreadOf, type Spread } from "./statistics.ts";

export interface ReportLine {
  readonly scenario: string;
  readonly label: string;
  readonly unit: string;
  /** A series and totals have none. */
  readonly spread: Spread | null;
  readonly series?: readonly number[];
  /** By variant. */
  readonly totals?: Readonly<Record<string, number>>;
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
      const by = line.by.flatMap((source) => {
        const values = numbers(samples, source);
        return values ? [values] : [];
      });
      if (!of || by.length === 0) return null;
      const values = of.map(
        (value, round) => value / Math.max(...by.map((others) => others[round] ?? Number.NaN)),
      );
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
    case "totals": {
      const totals = [...samples].flatMap(([variant, all]) => {
        // A drain that was cut off has none.
        const counts = all.flatMap((metrics) => metrics[line.metric] ?? []);
        const sum = (so: number, count: number): number => so + count;
        return counts[0] === undefined ? [] : [[variant, counts.reduce(sum, 0)] as const];
      });
      if (totals.length === 0) return null;
      const judgedOnes = totals.filter(([variant]) => line.judged.includes(variant));
      return {
        label: line.label,
        unit: "jobs",
        spread: null,
        totals: Object.fromEntries(totals),
        ...(judgedOnes.length > 0 ? { met: judgedOnes.every(([, count]) => count === 0) } : {}),
      };
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
  return { spread, target, met: isMet(spread.median, target) };
}

function isMet(value: number, target: Target): boolean {
  if ("atLeast" in target) return value >= target.atLeast;
  return "below" in target ? value < target.below : value <= target.atMost;
}

function wanted(target: Target): string {
  if ("atLeast" in target) return `at least ${target.atLeast}`;
  return "below" in target ? `below ${target.below}` : `at most ${target.atMost}`;
}

/** Aligned columns: what, median, unit, spread, target, verdict. */
export function table(rounds: Rounds, lines: readonly ReportLine[]): string {
  const { scenario, tookMs } = rounds;
  const count = `${rounds.rounds} round${rounds.rounds === 1 ? "" : "s"}`;
  const head = `${scenario.name}: ${scenario.title}  (${count}, ${Math.round(tookMs / 1_000)} s)`;
  const rows = lines.map(({ label, unit, spread, series, totals, target, met }) => {
    const verdict = met === undefined ? "" : met ? "met" : "MISSED";
    if (totals) {
      const counts = Object.entries(totals).map(([variant, count]) => `${variant} ${count}`);
      return [label, `${counts.join(", ")}  ${verdict}`.trim(), "", "", "", ""];
    }
    if (!spread) return [label, (series ?? []).map(shown).join(" "), unit, "", "", ""];
    const { median, min, max } = spread;
    return [
      label,
      shown(median),
      unit,
      rounds.rounds > 1 ? `${shown(min)} – ${shown(max)}` : "",
      target ? wanted(target) : "",
      verdict,
    ];
  });
  if (rows.length === 0) return `${head}\n  left out: none of its contenders takes part`;
  return [head, ...aligned(rows)].join("\n");
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = [0, 1, 2, 3, 4, 5].map((column) =>
    Math.max(...rows.map((row) => (isLong(row) && column === 1 ? 0 : (row[column]?.length ?? 0)))),
  );
  return rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === 1 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    );
    return `  ${cells.join("  ")}`.trimEnd();
  });
}

/** A series, or totals: it must not push the other rows apart. */
function isLong(row: readonly string[]): boolean {
  return (row[1] ?? "").includes(" ");
}

function shown(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString("en-US");
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}
