/** Why somebody else could have a job before its holder had brought it to an end. */
import {
  heldFromAt,
  lastTrusted,
  leaseOf,
  recordOf,
  wasSettledBefore,
  type Evidence,
  type JobStory,
  type Lease,
} from "./evidence.ts";
import type { ProcessStory } from "./process-story.ts";
import { covered, overlaps, type Span } from "./span.ts";

export const CAUSES = [
  "failed",
  "given back",
  "kill",
  "stop",
  "store frozen by a stop",
  "cut off",
  "outage",
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
  const { fence, by } = ending;
  const lease = leaseOf(job, fence);
  const span = untilLetGo(evidence, job, ending);
  const settled = lease?.settle?.answer === "settled" ? lease.settle.kind : null;
  if (settled === "retry" || recordOf(job, fence)?.outcome === "failed") return "failed";
  if (settled === "snooze" || settled === "release") return "given back";
  if (settled !== null) return null;
  if (lease && wasTakenBack(job, lease, span.to)) return "given back";

  const process = evidence.processes.get(by);
  if (!process) return null;
  const { stops, stalls } = process;
  if (overlaps(dying(process), span)) return "kill";
  if (stops.some((stop) => overlaps(stop, span))) return "stop";
  if (frozenSpans(evidence).some((frozen) => overlaps(frozen, span))) {
    return "store frozen by a stop";
  }
  if (!lease) return lostReply(evidence, process, fence);
  const heldFrom = heldFromAt(lease, span.to);
  const until = Math.min(span.to, heldFrom + evidence.leaseMs);
  const away = outOfTouch(evidence, process, { from: heldFrom, to: until });
  if (away !== null) return away;
  const stalledMs = covered(stalls, { from: heldFrom, to: span.to });
  return stalledMs > STALLED_PART * evidence.leaseMs ? "stall" : null;
}

/** The kill is written down before it is sent, and whoever it is meant for may begin something until then. */
function dying({ killedAt, exitedAt }: ProcessStory): Span {
  return { from: killedAt ?? Infinity, to: exitedAt ?? Infinity };
}

/** It was given back, and nobody heard that the store has done it: a crash would have been charged. */
function wasTakenBack(job: JobStory, lease: Lease, at: number): boolean {
  const kind = lease.settle?.kind;
  if (kind !== "snooze" && kind !== "release") return false;
  return wasSettledBefore(job, lease, at) && recordOf(job, lease.fence)?.outcome !== "crashed";
}

/**
 * What happened to a worker after it had let go of a job did not take it away. It lets go when its
 * own clock says that the lease is over; a handler may need longer to hear of it. What a handler had
 * brought to an end is kept beyond that, for the store to come back. And one that is in a transaction
 * trusts that: no other worker can have the job before it ends.
 */
function untilLetGo({ leaseMs }: Evidence, job: JobStory, { fence, span }: Ending): Span {
  const run = job.runs.find((one) => one.fence === fence);
  if (run?.isWithin || run?.how === "returned" || run?.how === "threw") return span;
  const lease = leaseOf(job, fence);
  const trustedUntil = lease ? lastTrusted(lease, leaseMs) : Infinity;
  return { from: span.from, to: Math.min(span.to, trustedUntil) };
}

/**
 * The network or the server took the lease away: its holder could not renew for most of it. What it
 * needed to find out that its connections were dead counts too: calls that failed or took long.
 */
function outOfTouch(evidence: Evidence, process: ProcessStory, window: Span): Cause | null {
  const { cutOffs, failures, stalls } = process;
  const { outages, leaseMs } = evidence;
  const isHit = (spans: readonly Span[]) => spans.some((span) => overlaps(span, window));
  const awayMs = covered([...cutOffs, ...outages, ...failures, ...stalls], window);
  if (awayMs <= STALLED_PART * leaseMs) return null;
  if (isHit(cutOffs)) return "cut off";
  return isHit(outages) ? "outage" : null;
}

/** Nobody saw this lease: it was granted, and the worker never heard of it. Its fence tells when. */
function lostReply(evidence: Evidence, process: ProcessStory, fence: number): Cause | null {
  const { wallOffsetMs } = evidence;
  const at = wallOffsetMs === null ? null : fence / 1_000 + wallOffsetMs;
  const isHit = (spans: readonly Span[]) =>
    spans.some((span) => at === null || isInAftermath(span, at));
  if (isHit(process.cutOffs)) return "cut off";
  return isHit(evidence.outages) ? "outage" : null;
}

/** A connection may be dead for as long as a call may take, and nobody knows. */
const AFTERMATH_MS = 15_000;
const CLOCKS_MS = 1_000;

export function isInAftermath({ from, to }: Span, at: number): boolean {
  return at >= from - CLOCKS_MS && at <= to + AFTERMATH_MS;
}

/** Nobody could write, because a process was stopped while it had the store's write lock. */
export function frozenSpans({ unwritable, processes, outages }: Evidence): Span[] {
  const stops = [...processes.values()].flatMap((process) => process.stops);
  const isHit = (span: Span, by: readonly Span[]) => by.some((one) => overlaps(one, span));
  // Of an outage everybody knows the reason.
  return unwritable.filter((span) => isHit(span, stops) && !isHit(span, outages));
}
