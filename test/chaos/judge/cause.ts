/** Why somebody else could have a job before its holder had brought it to an end. */
import { overlaps, recordOf, type Evidence, type JobStory, type Span } from "./evidence.ts";

export const CAUSES = [
  "failed",
  "given back",
  "kill",
  "stop",
  "store frozen by a stop",
  "stall",
] as const;
export type Cause = (typeof CAUSES)[number];

/** Renewals fail only if a worker stands still for more than half of its lease, in one or two pieces. */
const STALLED_PART = 0.4;

export interface Ending {
  readonly id: string;
  readonly fence: number;
  readonly by: string;
  /** From when it was held to when somebody else had it. */
  readonly span: Span;
}

/** Null: it was taken from a live holder, and nobody knows why. */
export function causeOf(evidence: Evidence, job: JobStory, ending: Ending): Cause | null {
  const { fence, by, span } = ending;
  const lease = job.leases.find((one) => one.fence === fence);
  const settled = lease?.settle?.answer === "settled" ? lease.settle.kind : null;
  if (settled === "retry" || recordOf(job, fence)?.outcome === "failed") return "failed";
  if (settled === "snooze" || settled === "release") return "given back";
  if (settled !== null) return null;

  const process = evidence.processes.get(by);
  if (!process) return null;
  const { killedAt, stops, stalls } = process;
  if (killedAt !== null && killedAt >= span.from && killedAt <= span.to) return "kill";
  if (stops.some((stop) => overlaps(stop, span))) return "stop";
  if (frozenSpans(evidence).some((frozen) => overlaps(frozen, span))) {
    return "store frozen by a stop";
  }
  const heldFrom = lease?.heldFrom ?? span.from;
  const stalledMs = covered(stalls, { from: heldFrom, to: span.to });
  return stalledMs > STALLED_PART * evidence.leaseMs ? "stall" : null;
}

/** Nobody could write, because a process was stopped while it had the store's write lock. */
export function frozenSpans({ unwritable, processes }: Evidence): Span[] {
  const stops = [...processes.values()].flatMap((process) => process.stops);
  return unwritable.filter((span) => stops.some((stop) => overlaps(stop, span)));
}

/** How much of the window the spans cover together. */
function covered(spans: readonly Span[], window: Span): number {
  let sum = 0;
  let reached = window.from;
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const begin = Math.max(from, reached);
    const end = Math.min(to, window.to);
    if (end <= begin) continue;
    sum += end - begin;
    reached = end;
  }
  return sum;
}
