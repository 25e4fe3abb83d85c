/** The verdicts of several stores, side by side. */
import type { ChaosStoreName } from "./chaos-store.ts";
import { RULES, type Rule } from "./judge/evidence.ts";
import type { ChaosRun } from "./run-chaos.ts";

export interface StoreRun {
  readonly store: ChaosStoreName;
  readonly run: ChaosRun;
}

export function comparisonTable(runs: readonly StoreRun[]): string {
  const row = (name: string, cell: (run: ChaosRun) => string): string[] => [
    name,
    ...runs.map(({ run }) => cell(run)),
  ];
  const judged = (rule: Rule) =>
    row(rule, ({ verdict }) => {
      const broken = verdict.findings.filter((finding) => finding.rule === rule).length;
      return broken === 0 ? "0" : `${broken} BROKEN`;
    });
  const rows = [
    ["", ...runs.map(({ store }) => store)],
    row("jobs tried", ({ verdict }) => String(verdict.enqueued.tried)),
    row("runs", ({ verdict }) => String(verdict.duplicated.runs)),
    row("kills", ({ verdict }) => String(verdict.processes.kills)),
    row("stops past the lease", ({ verdict }) => String(verdict.processes.stops)),
    row("cut off", ({ verdict }) => String(verdict.processes.cutOffs)),
    row("store away for all", ({ verdict }) => String(verdict.processes.outages)),
    row("kill to leasable, max", ({ verdict }) => seconds(verdict.recovery.judgedMaxMs)),
    row("heal to a new job, max", ({ verdict: { healed } }) =>
      healed.heals === 0 ? "" : seconds(healed.took.maxMs),
    ),
    [],
    ...RULES.map(judged),
    [],
    row("verdict", ({ verdict }) => (verdict.findings.length === 0 ? "kept" : "BROKEN")),
  ];
  return rows.map(laidOut).join("\n");
}

function laidOut([name = "", ...cells]: readonly string[]): string {
  return `  ${name.padEnd(26)}${cells.map((cell) => cell.padStart(16)).join("")}`.trimEnd();
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
