/** Whether every process ended as it was made to, and what the engine itself complained about. */
import type { Evidence, Finding } from "./evidence.ts";
import type { ProcessStory } from "./process-story.ts";

export interface Processes {
  readonly workers: number;
  readonly kills: number;
  readonly stops: number;
  readonly terminations: number;
  readonly producerKills: number;
  /** Stops that caught a process with the store's write lock, or close to it. */
  readonly unwritable: number;
  /** How often the way of one process to the store was disturbed, and how. */
  readonly cutOffs: number;
  readonly faults: Readonly<Record<string, number>>;
  /** How often the store was away for all, and how. */
  readonly outages: number;
  readonly outageKinds: Readonly<Record<string, number>>;
  readonly failedCalls: number;
  readonly findings: readonly Finding[];
}

export function judgeProcesses(evidence: Evidence): Processes {
  const { processes, lines, unwritable, outages } = evidence;
  const all = [...processes.values()];
  const workers = all.filter(({ role }) => role === "worker");
  const cutOffs = all.flatMap((process) => process.cutOffs);
  const findings: Finding[] = [];
  for (const process of all) {
    const fault = faultOf(process);
    if (fault) findings.push({ rule: "processes at fault", text: `${process.name} ${fault}` });
  }
  for (const line of lines) {
    if (line.what !== "log" || line.level !== "error" || isGivenUp(line, evidence)) continue;
    findings.push({ rule: "processes at fault", text: `${line.by} reported: ${line.text}` });
  }
  return {
    workers: workers.length,
    kills: workers.filter(({ killedAt }) => killedAt !== null).length,
    stops: workers.reduce((sum, { stops }) => sum + stops.length, 0),
    terminations: workers.filter(({ terminatedAt }) => terminatedAt !== null).length,
    producerKills: all.filter(({ role, killedAt }) => role === "producer" && killedAt !== null)
      .length,
    unwritable: unwritable.length,
    cutOffs: cutOffs.length,
    faults: counted(cutOffs),
    outages: outages.length,
    outageKinds: counted(outages),
    failedCalls: lines.filter(({ what }) => what === "call failed").length,
    findings,
  };
}

/** Who is asked to stop while nobody can write gives its jobs up after its patience, and must say so. */
function isGivenUp(
  { at, by }: { readonly at: number; readonly by: string },
  { processes, unwritable }: Evidence,
): boolean {
  const isStopping = (processes.get(by)?.terminatedAt ?? Infinity) <= at;
  return isStopping && unwritable.some(({ from, to }) => from <= at && at <= to);
}

function counted(faults: readonly { readonly how: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { how } of faults) counts[how] = (counts[how] ?? 0) + 1;
  return counts;
}

function faultOf({ exit, killedAt, terminatedAt, role }: ProcessStory): string | null {
  if (exit === null) return "never ended";
  if (killedAt !== null) return null;
  if (exit.code === 0 && (role === "producer" || terminatedAt !== null)) return null;
  const how = exit.signal ?? `code ${exit.code}`;
  return terminatedAt === null
    ? `ended by itself with ${how}`
    : `was asked to stop and ended with ${how}`;
}
