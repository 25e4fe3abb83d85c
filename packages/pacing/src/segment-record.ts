/** What is known of a segment besides its plan: pure. */
import { bitsOf } from "./decide-activities.ts";
import type { Chunk } from "./chunk.ts";
import { ACTIVITIES } from "./scenario.ts";

/** What was counted, by the names of system 3. */
export interface Totals {
  readonly created: number;
  readonly failed: number;
  readonly won: number;
  readonly lost: number;
  /** By type. */
  readonly scheduled: readonly number[];
  readonly executed: readonly number[];
  readonly thinned: number;
  /** For which no budget had room. */
  readonly unfunded: number;
}

export interface SegmentRecord {
  readonly status: "expanding" | "expanded" | "complete";
  /** Chunks whose records are all done or dead. */
  readonly chunks: readonly number[];
  readonly expandedAt: number | null;
  readonly completedAt: number | null;
  /** As they were when it was looked at last. */
  readonly totals: Totals | null;
}

export const NEW_SEGMENT: SegmentRecord = {
  ...{ status: "expanding", chunks: [], expandedAt: null, completedAt: null, totals: null },
};
const NONE = ACTIVITIES.map(() => 0);
export const NO_TOTALS: Totals = {
  ...{ created: 0, failed: 0, won: 0, lost: 0, scheduled: NONE, executed: NONE },
  ...{ thinned: 0, unfunded: 0 },
};

export function addTotals(one: Totals, other: Totals): Totals {
  const sum = (a: readonly number[], b: readonly number[]) => a.map((count, at) => count + b[at]!);
  return {
    created: one.created + other.created,
    failed: one.failed + other.failed,
    won: one.won + other.won,
    lost: one.lost + other.lost,
    scheduled: sum(one.scheduled, other.scheduled),
    executed: sum(one.executed, other.executed),
    thinned: one.thinned + other.thinned,
    unfunded: one.unfunded + other.unfunded,
  };
}

export function totalsOf({ entries }: Chunk): Totals {
  const [scheduled, executed] = [[...NONE], [...NONE]];
  let [created, failed, won, lost, thinned, unfunded] = [0, 0, 0, 0, 0, 0];
  for (const entry of Object.values(entries)) {
    if (entry.is === "done" || entry.here) created += 1;
    if (entry.is === "dead") failed += 1;
    if (entry.won === 1) won += 1;
    if (entry.won === 0) lost += 1;
    thinned += entry.thin ?? 0;
    unfunded += entry.poor ?? 0;
    entry.made?.forEach((mask, at) => (scheduled[at] = scheduled[at]! + bitsOf(mask)));
    entry.ran?.forEach((mask, at) => (executed[at] = executed[at]! + bitsOf(mask)));
  }
  return { created, failed, won, lost, scheduled, executed, thinned, unfunded };
}

/** True: with this one all are complete, and the segment is expanded. */
export function addChunks(before: SegmentRecord | null, chunks: readonly number[]): SegmentRecord {
  const state = before ?? NEW_SEGMENT;
  const added = chunks.filter((chunk) => !state.chunks.includes(chunk));
  return added.length === 0 ? state : { ...state, chunks: [...state.chunks, ...added] };
}
