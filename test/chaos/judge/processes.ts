/** Whether every process ended as it was made to, and what the engine itself complained about. */
import type { Evidence, Finding, ProcessStory } from "./evidence.ts";

export interface Processes {
  readonly workers: number;
  readonly kills: number;
  readonly stops: number;
  readonly terminations: number;
  readonly producerKills: number;
  /** Stops that caught a process with the store's write lock, or close to it. */
  readonly unwritable: number;
  readonly failedCalls: number;
  readonly findings: readonly Finding[];
}

export function judgeProcesses({ processes, lines, unwritable }: Evidence): Processes {
  const all = [...processes.values()];
  const workers = all.filter(({ role }) => role === "worker");
  const findings: Finding[] = [];
  for (const process of all) {
    const fault = faultOf(process);
    if (fault) findings.push({ rule: "processes at fault", text: `${process.name} ${fault}` });
  }
  for (const line of lines) {
    if (line.what !== "log" || line.level !== "error") continue;
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
    failedCalls: lines.filter(({ what }) => what === "call failed").length,
    findings,
  };
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
