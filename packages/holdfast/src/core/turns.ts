/**
 * Fair turns between the open lines of a queue. A turn is as many jobs as the line's weight; a turn
 * that one call did not use up goes on with the next call. A store for which going to a line costs as much
 * as taking some jobs there may give it several turns at once to a call that wants many. Whose turn it is,
 * the store keeps for all, or each process for itself: each of them being fair makes all of them fair
 * together.
 */
export interface TurnTaker {
  readonly weight: number | null;
  /** How many more leases it may have. */
  readonly room: number;
  /** Does any cap concern it? */
  readonly isCapped: boolean;
}

/** `Key` is what a store knows a line by. */
export interface Turn<Key> {
  /** Whose turn it is (or was, if nothing is left of it). */
  readonly line: Key;
  readonly left: number;
}

export interface Plan<L extends TurnTaker, Key> {
  /** How many of each line, in the order of their turns. */
  readonly quotas: readonly { readonly line: L; readonly jobs: number }[];
  /** Where the next call goes on. */
  readonly turn: Turn<Key>;
}

/** How many jobs there are to hand out, and how many of them capped lines may have. */
export interface Wanted {
  readonly jobs: number;
  readonly ofCapped: number;
}

/** `ring` begins with the line whose turn it is. Hands out so many jobs, round after round. */
export function planTurns<L extends TurnTaker, Key>(
  ring: readonly L[],
  { jobs, ofCapped }: Wanted,
  how: { readonly current: Turn<Key>; readonly turnsAtOnce?: number; keyOf(line: L): Key },
): Plan<L, Key> {
  const { current, turnsAtOnce = 1, keyOf } = how;
  const [only] = ring;
  if (only !== undefined && ring.length === 1) {
    const taken = Math.min(jobs, only.room, only.isCapped ? ofCapped : Infinity);
    return { quotas: taken > 0 ? [{ line: only, jobs: taken }] : [], turn: current };
  }
  const quotas = ring.map((line) => ({ line, jobs: 0 }));
  let turn = current;
  let left = jobs;
  let cappedLeft = ofCapped;
  let isStuck = false;
  while (left > 0 && !isStuck) {
    isStuck = true;
    for (const quota of quotas) {
      if (left === 0) break;
      const { line } = quota;
      const goesOn = turn.line === keyOf(line) && turn.left > 0;
      const length = goesOn ? turn.left : (line.weight ?? 1) * turnsAtOnce;
      const room = Math.min(line.room - quota.jobs, line.isCapped ? cappedLeft : Infinity);
      const taken = Math.min(length, left, room);
      if (taken <= 0) continue;
      isStuck = false;
      quota.jobs += taken;
      left -= taken;
      if (line.isCapped) cappedLeft -= taken;
      // A line that has no more room ends its turn early.
      const isFull = taken === room;
      turn = { line: keyOf(line), left: isFull ? 0 : length - taken };
    }
  }
  return { quotas: quotas.filter((quota) => quota.jobs > 0), turn };
}

/** Puts the packs of several lines into the order of their turns. */
export function interleave<T>(
  packs: readonly { readonly items: readonly T[]; readonly line: Pick<TurnTaker, "weight"> }[],
): readonly T[] {
  const [first] = packs;
  if (first !== undefined && packs.length === 1) return first.items;
  const all: T[] = [];
  for (let round = 0, isDone = false; !isDone; round++) {
    isDone = true;
    for (const { items, line } of packs) {
      const turn = line.weight ?? 1;
      const end = Math.min(items.length, (round + 1) * turn);
      for (let index = round * turn; index < end; index++) all.push(items[index] as T);
      if (end < items.length) isDone = false;
    }
  }
  return all;
}
