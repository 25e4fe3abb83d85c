/**
 * Told, not judged: how long leased jobs waited inside their worker before they started, and how
 * many were lost there. A job that waits in a worker waits for that worker alone, and if that is
 * killed the job is charged with a crash although it had not begun.
 */
import type { Evidence } from "./evidence.ts";

export interface Waits {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Leases of killed workers whose job had not started. */
  readonly killedUnstarted: number;
}

export function measureWaits({ jobs, processes }: Evidence): Waits {
  const waits: number[] = [];
  let killedUnstarted = 0;
  for (const { leases, runs } of jobs.values()) {
    for (const lease of leases) {
      const run = runs.find(({ fence }) => fence === lease.fence);
      if (run) waits.push(run.startAt - lease.at);
      else if (lease.settle === null && processes.get(lease.by)?.killedAt) killedUnstarted += 1;
    }
  }
  waits.sort((a, b) => a - b);
  const part = (share: number) => waits[Math.floor(waits.length * share)] ?? 0;
  return { p50Ms: part(0.5), p99Ms: part(0.99), maxMs: waits.at(-1) ?? 0, killedUnstarted };
}
