/**
 * What became of the records of a segment, pure. A segment is kept in chunks of some records; a chunk is
 * one record of the store, changed by compare-and-set. An index is in it once, so whatever is counted from it is
 * counted once, however often a job runs.
 *
 * A chunk spends from the budgets only what it was granted (see `budget.ts`), and in the same step in which it
 * notes what it is spent on. So no number of workers overdraws a budget.
 */
import { bitsOf, firstBits, type Masks, type Wanted } from "./decide-activities.ts";
import { ACTIVITIES } from "./scenario.ts";
import type { Segment } from "./timeline.ts";

/** Small ones are cheap to write; but all of a segment are in one list. */
const CHUNK_SIZE = 64;
const MOST_CHUNKS = 400;

export interface Entry {
  /** `done`: its record is there. `dead`: its job is dead, cancelled or gone. */
  readonly is: "done" | "dead";
  /** Of a scenario with deals: 1 is won. */
  readonly won?: 0 | 1;
  /** Activities that are scheduled, and those of them that were done. */
  readonly made?: Masks;
  readonly ran?: Masks;
  /** Of a dead one: its record is there all the same. */
  readonly here?: 1;
  /** How many activities were thinned out, and how many no budget had room for. */
  readonly thin?: number;
  readonly poor?: number;
}

export interface Chunk {
  /** Grows when what is left of its grants goes back: a grant of an earlier one counts no more. */
  readonly epoch: number;
  /** By type. */
  readonly granted: readonly number[];
  readonly entries: Readonly<Record<string, Entry>>;
}

const NONE: readonly number[] = ACTIVITIES.map(() => 0);
export const NEW_CHUNK: Chunk = { epoch: 0, granted: NONE, entries: {} };

/** How many chunks a segment has. Neighbours are in different ones: jobs of one moment do not meet. */
export function chunksOf({ count }: Pick<Segment, "count">): number {
  return Math.min(MOST_CHUNKS, Math.max(1, Math.ceil(count / CHUNK_SIZE)));
}

export function chunkOf(index: number, segment: Segment): number {
  return (index - segment.firstIdx) % chunksOf(segment);
}

/** How many of the segment's records are in this chunk. */
export function sizeOf(chunk: number, segment: Segment): number {
  return Math.ceil((segment.count - chunk) / chunksOf(segment));
}

export function isComplete(state: Chunk, chunk: number, segment: Segment): boolean {
  return Object.keys(state.entries).length >= sizeOf(chunk, segment);
}

export function spentOf({ entries }: Chunk): number[] {
  const spent = [...NONE];
  for (const { made } of Object.values(entries)) {
    made?.forEach((mask, at) => (spent[at] = spent[at]! + bitsOf(mask)));
  }
  return spent;
}

export interface Noting {
  readonly index: number;
  readonly won: boolean | null;
  readonly wanted: Wanted;
  /** True: nothing more is granted, and what there is must do. */
  readonly isPoor: boolean;
}

/** By type, how many more than it has; null: it is noted. */
export type NoteAnswer =
  | { readonly entry: Entry; readonly missing: null }
  | { readonly entry: null; readonly missing: readonly number[] };

/** The first to note a record decides; who comes again is told what was decided. */
export function note(state: Chunk, noting: Noting): [Chunk, NoteAnswer] {
  const { index, won, wanted, isPoor } = noting;
  const known = state.entries[index];
  if (known?.is === "done") return [state, { entry: known, missing: null }];
  const spent = spentOf(state);
  const left = state.granted.map((count, at) => Math.max(0, count - spent[at]!));
  const missing = wanted.masks.map((mask, at) => Math.max(0, bitsOf(mask) - left[at]!));
  const short = missing.reduce((sum, count) => sum + count, 0);
  if (short > 0 && !isPoor) return [state, { entry: null, missing }];
  const made = wanted.masks.map((mask, at) => firstBits(mask, left[at]!));
  const thin = wanted.before - wanted.after;
  const entry: Entry = {
    is: "done",
    ...(won !== null && { won: won ? 1 : 0 }),
    ...(made.some((mask) => mask !== 0) && { made }),
    ...(thin > 0 && { thin }),
    ...(short > 0 && { poor: short }),
  };
  return [
    { ...state, entries: { ...state.entries, [index]: entry } },
    { entry, missing: null },
  ];
}

/** An activity was done. False: it is not known, or was done before. */
export function noteRun(
  state: Chunk,
  {
    index,
    type,
    ordinal,
  }: { readonly index: number; readonly type: number; readonly ordinal: number },
): [Chunk, boolean] {
  const entry = state.entries[index];
  const made = entry?.made?.[type] ?? 0;
  const ran = entry?.ran ?? NONE;
  const bit = 1 << ordinal;
  if (!entry || (made & bit) === 0 || (ran[type]! & bit) !== 0) return [state, false];
  const after = ran.map((mask, at) => (at === type ? mask | bit : mask));
  const entries = { ...state.entries, [index]: { ...entry, ran: after } };
  return [{ ...state, entries }, true];
}

/**
 * Its job is dead: what it had reserved is free again, because activities are stored together with the success
 * of their record. One that was noted by a job that lives is left alone.
 */
export function noteDead(state: Chunk, indexes: readonly number[]): Chunk {
  const dead = indexes.filter((index) => state.entries[index]?.is !== "dead");
  if (dead.length === 0) return state;
  const entries = { ...state.entries };
  for (const index of dead) {
    entries[index] = { is: "dead", ...(entries[index]?.is === "done" && { here: 1 }) };
  }
  return { ...state, entries };
}
