/**
 * The budgets of a simulation, pure: one record that hands out parts of them to chunks.
 *
 *   granted(all) = what is out, and never more than the limit
 *   out[chunk]   = what this chunk may spend in all, under its epoch
 *
 * A grant is noted here first and taken by its chunk then: one that got lost on the way is found again, because
 * what is out says how much, not how much more. To give back, a chunk first starts a new epoch, and from then on
 * takes nothing that was granted before; only then the rest is free here. So a worker that was frozen between
 * two steps can spend nothing that another one has.
 */
import { spentOf, type Chunk } from "./chunk.ts";
import { ACTIVITIES } from "./scenario.ts";

export interface Out {
  readonly epoch: number;
  /** By type. */
  readonly may: readonly number[];
}

export interface Budget {
  /** By type: what chunks have spent or may spend. */
  readonly granted: readonly number[];
  readonly out: Readonly<Record<string, Out>>;
}

export const NEW_BUDGET: Budget = { granted: ACTIVITIES.map(() => 0), out: {} };
/** Most of one type that a chunk gets at once. */
const MOST_AT_ONCE = 32;
/** While a budget is this many times larger than what is asked for, more is given than was asked for. */
const PLENTY = 64;

export interface GrantAsk {
  /** Its key here. */
  readonly chunk: string;
  readonly state: Chunk;
  /** By type: how many more it needs. */
  readonly missing: readonly number[];
  /** By type; `Infinity`: no bound. It is counted all the same: a bound may come later. */
  readonly limits: readonly number[];
}

/** Answers what the chunk may spend in all; null: nothing more than it has. */
export function grant(budget: Budget, ask: GrantAsk): [Budget, Out | null] {
  const { chunk, state, missing, limits } = ask;
  const settled = budget.out[chunk] ? giveBack(budget, chunk, state) : budget;
  const known = settled.out[chunk];
  // One of a later epoch is that of a chunk which the store has forgotten: it would never be taken.
  const found = known?.epoch === state.epoch ? known : undefined;
  const has = state.granted;
  // Granted before, and not taken yet.
  if (found && found.may.some((may, at) => may > has[at]! && missing[at]! > 0)) {
    return [settled, found];
  }
  const spent = spentOf(state);
  const may = [...(found?.may ?? has.map((count, at) => Math.max(count, spent[at]!)))];
  const granted = [...settled.granted];
  missing.forEach((count, at) => {
    if (count === 0) return;
    const left = Math.max(0, limits[at]! - granted[at]!);
    const more = Math.min(left, left > count * PLENTY ? Math.max(count, MOST_AT_ONCE) : count);
    may[at] = may[at]! + more;
    granted[at] = granted[at]! + more;
  });
  if (may.every((count, at) => count === (found?.may[at] ?? has[at]))) return [settled, null];
  const out: Out = { epoch: state.epoch, may };
  return [{ granted, out: { ...settled.out, [chunk]: out } }, out];
}

/** The chunk's side of a grant. One of an earlier epoch is none. */
export function take(state: Chunk, out: Out): Chunk {
  if (out.epoch !== state.epoch) return state;
  return { ...state, granted: state.granted.map((has, at) => Math.max(has, out.may[at]!)) };
}

/** The chunk's side of giving back: from now on it has what it has spent, and takes no grant of before. */
export function seal(state: Chunk): Chunk {
  const spent = spentOf(state);
  if (state.granted.every((count, at) => count <= spent[at]!)) return state;
  return { ...state, epoch: state.epoch + 1, granted: spent };
}

/** What a sealed chunk did not spend is free again. */
export function giveBack(budget: Budget, chunk: string, state: Chunk): Budget {
  const found = budget.out[chunk];
  if (!found || found.epoch >= state.epoch) return budget;
  const granted = budget.granted.map(
    (count, at) => count - Math.max(0, found.may[at]! - state.granted[at]!),
  );
  const out = { epoch: state.epoch, may: state.granted };
  return { granted, out: { ...budget.out, [chunk]: out } };
}

/** A chunk that gave everything back needs no place here, until it is granted something again. */
export function forget(budget: Budget, chunk: string, state: Chunk): Budget {
  const found = budget.out[chunk];
  const spent = spentOf(state);
  const isEven =
    found?.may.every((may, at) => may === state.granted[at] && may <= spent[at]!) ?? false;
  if (!isEven || found?.epoch !== state.epoch) return budget;
  const { [chunk]: _, ...out } = budget.out;
  return { ...budget, out };
}
