/** Where a job stands: one of three fields, or none once it has finished. */
import { WAKE_AHEAD_MS } from "../../core/line.ts";
import type { Document } from "./driver-like.ts";
import type { Changes } from "./edit.ts";

/** The queue, where it stands. */
interface Placement extends Pick<Changes, "ready" | "due" | "leased"> {
  readonly ready: string | null;
  readonly due: string | null;
  readonly leased: string | null;
}

export const NOWHERE: Placement = { ready: null, due: null, leased: null };

/** A queued job stands in its line once it is due, and among the later ones before. */
export function inLine(queue: string, { runAt, now }: Due): Placement {
  const isDue = runAt <= now;
  return { ready: isDue ? queue : null, due: isDue ? null : queue, leased: null };
}

/** Is it worth waking somebody? */
export function isSoon({ runAt, now }: Due): boolean {
  return runAt <= now + WAKE_AHEAD_MS;
}

interface Due {
  readonly runAt: number;
  readonly now: number;
}

/** Line by line, and as they stand in each: the order of the index `ready`. */
export const LINE_ORDER = { ready: 1, group: 1, priority: 1, seq: 1 };

/** From line to line through that index: their groups, and what else is asked of the first job of each. */
export function lineStages(queue: string, range: Document = {}, asked: Document = {}): Document[] {
  return [
    { $match: { ready: queue, ...range } },
    { $sort: LINE_ORDER },
    { $group: { _id: "$group", ...asked } },
  ];
}

/** As they stand in one line. */
export function inOrder<J extends { readonly priority: number; readonly seq: number }>(
  jobs: readonly J[],
): readonly J[] {
  if (jobs.length < 2) return jobs;
  return jobs.toSorted((a, b) =>
    a.priority === b.priority ? a.seq - b.seq : a.priority - b.priority,
  );
}
