/** The verdict for people. */
import type { ChaosOptions } from "./chaos-options.ts";
import { CAUSES } from "./judge/cause.ts";
import type { Rule } from "./judge/evidence.ts";
import type { ChaosRun } from "./run-chaos.ts";

/** A broken promise is often broken a thousand times; the first few say enough. */
const SHOWN_PER_RULE = 5;

export function verdictTable(
  { verdict, tookMs, version }: ChaosRun,
  options: ChaosOptions,
): string {
  const { enqueued, duplicated, stale, counters, recovery, healed, processes, waits } = verdict;
  const { findings } = verdict;
  const broken = (rule: Rule) => findings.filter((finding) => finding.rule === rule).length;
  const judged = (rule: Rule, note = ""): Row => {
    const count = broken(rule);
    return [rule, number(count), count === 0 ? "ok" : "BROKEN", note];
  };
  const causes = CAUSES.filter((cause) => duplicated.explained[cause] > 0);
  const explained = causes.reduce((sum, cause) => sum + duplicated.explained[cause], 0);
  const rows: Row[] = [
    [
      "jobs tried",
      number(enqueued.tried),
      "",
      `acknowledged ${number(enqueued.acknowledged)}, tried again ${number(enqueued.repeated)}`,
    ],
    ["recovered", number(enqueued.recovered), "", "stored, though nobody was told"],
    ["absent", number(enqueued.absent), "", "not stored, and nobody was told that they are"],
    ["spawned", number(enqueued.spawned), "", "stored with their parents' successes"],
    ["succeeded", number(enqueued.succeeded), "", `dead, as they may be: ${enqueued.dead}`],
    ["runs", number(duplicated.runs), "", `by ${processes.workers} worker processes`],
    ["kills", number(processes.kills), "", `and ${processes.producerKills} of producers`],
    ["stops past the lease", number(processes.stops), "", frozenNote(processes.unwritable)],
    ["graceful stops", number(processes.terminations), "", "the last ones included"],
    ["cut off", number(processes.cutOffs), "", listed(processes.faults)],
    ["store away for all", number(processes.outages), "", listed(processes.outageKinds)],
    ["kill to leasable", "", "", timesNote(recovery.leasable)],
    ["delayed", number(recovery.delayed.jobs), "", delayedNote(recovery.delayed)],
    ["kill to leased again", "", "", timesNote(recovery.leased)],
    ["lease to start", "", "", `p99 ${seconds(waits.p99Ms)}, max ${seconds(waits.maxMs)}`],
    ["killed before they began", number(waits.killedUnstarted), "", "in a worker's buffer"],
    [],
    judged("lost"),
    judged("unexpected"),
    [
      "duplicated, explained",
      number(explained),
      "ok",
      causes.map((cause) => `${cause} ${duplicated.explained[cause]}`).join(", "),
    ],
    judged("duplicated, unexplained"),
    judged("run twice by an outage", outageNote(duplicated.explained.outage)),
    judged("reaped too soon"),
    judged("overlapping, unexplained", `explained: ${number(duplicated.overlapping)}`),
    judged("stale accepted", `late words refused: ${number(stale.refused)}`),
    judged("two holders"),
    judged("repeat denied"),
    judged("steps and saves forgotten"),
    judged("counters wrong", `crashes counted: ${number(counters.crashes)}`),
    judged("recovered too late", recoveryNote(recovery)),
    judged("no job after a heal", healNote(healed)),
    judged("processes at fault", `calls that failed: ${number(processes.failedCalls)}`),
    judged("store damaged"),
  ];
  const head = `chaos on ${version}, seed ${options.seed}, lease ${options.leaseMs / 1000} s, took ${(tookMs / 1000).toFixed(0)} s`;
  const details = shown(findings);
  const last =
    findings.length === 0
      ? "Every promise was kept."
      : `${findings.length} findings. Again: npm run chaos -- ${again(options)}`;
  return [head, "", ...layout(rows), "", ...details, last].join("\n");
}

type Row = readonly [name: string, count: string, verdict: string, note: string] | readonly [];

function layout(rows: readonly Row[]): string[] {
  return rows.map(([name = "", count = "", verdict = "", note = ""]) =>
    `  ${name.padEnd(26)}${count.padStart(7)}  ${verdict.padEnd(8)}${note}`.trimEnd(),
  );
}

function shown(findings: ChaosRun["verdict"]["findings"]): string[] {
  const counts = new Map<Rule, number>();
  const lines: string[] = [];
  for (const { rule, text } of findings) {
    const count = (counts.get(rule) ?? 0) + 1;
    counts.set(rule, count);
    if (count <= SHOWN_PER_RULE) lines.push(`  ${rule}: ${text}`);
  }
  return lines.length === 0 ? [] : [...lines, ""];
}

function frozenNote(unwritable: number): string {
  return unwritable === 0 ? "" : `nobody could write ${unwritable} times`;
}

function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}

function outageNote(count: number): string {
  return count === 0 ? "" : `still running when the lease was over, let go, run again: ${count}`;
}

function healNote({ heals, took, excused, boundMs }: ChaosRun["verdict"]["healed"]): string {
  if (heals === 0) return "";
  return `${heals} heals, ${timesNote(took)} of ${seconds(boundMs)}, excused ${excused}`;
}

function recoveryNote({ jobs, judgedMaxMs, boundMs }: ChaosRun["verdict"]["recovery"]): string {
  return jobs === 0
    ? "no killed worker had a job"
    : `${number(jobs)} jobs, the slowest ${seconds(judgedMaxMs)} of ${seconds(boundMs)}`;
}

function delayedNote({ jobs, maxMs }: { readonly jobs: number; readonly maxMs: number }): string {
  return jobs === 0
    ? ""
    : `by a frozen store or for want of a reaper: max ${seconds(maxMs)} after the kill`;
}

function timesNote({ p50Ms, maxMs }: { readonly p50Ms: number; readonly maxMs: number }): string {
  return `p50 ${seconds(p50Ms)}, max ${seconds(maxMs)}`;
}

function again(options: ChaosOptions): string {
  const { store, seed, workers, jobs, kills, stops, terms, forgiveStalls } = options;
  const { faults, restarts, serverKills, outages, failovers, moves } = options;
  const quick = forgiveStalls ? " --quick" : "";
  const processes = `--workers ${workers} --jobs ${jobs} --kills ${kills} --stops ${stops} --terms ${terms}`;
  const servers = `--faults ${faults} --restarts ${restarts} --server-kills ${serverKills} --outages ${outages} --failovers ${failovers} --moves ${moves}`;
  const within = `--transactions ${options.transactions} --commit-kills ${options.commitKills}`;
  return `--store ${store} --seed ${seed} ${processes} ${servers} ${within}${quick}`;
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
