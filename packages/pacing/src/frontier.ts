/** Which segments of a simulation are expanded: pure. A number is taken once, in order. */
export interface Frontier {
  /** The next segment to expand. */
  readonly next: number;
  /** Expanded, or being so, and not done. */
  readonly open: readonly number[];
}

export const NEW_FRONTIER: Frontier = { next: 0, open: [] };

/** `mine`: claimed now. `again`: claimed before, and not done; whoever did may be at it, or dead. */
export type Claim = "mine" | "again" | "done" | "early";

export function claim(
  before: Frontier | null,
  segment: number,
  isEmpty: boolean,
): [Frontier, Claim] {
  const state = before ?? NEW_FRONTIER;
  if (segment > state.next) return [state, "early"];
  if (segment < state.next) return [state, state.open.includes(segment) ? "again" : "done"];
  const open = isEmpty ? state.open : [...state.open, segment];
  return [{ next: segment + 1, open }, "mine"];
}

/** Every record of it is done or dead. False: it was so before. */
export function close(before: Frontier | null, segment: number): [Frontier, boolean] {
  const state = before ?? NEW_FRONTIER;
  if (!state.open.includes(segment)) return [state, false];
  return [{ ...state, open: state.open.filter((one) => one !== segment) }, true];
}
