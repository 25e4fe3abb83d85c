/**
 * The store's clock: the host's, made to never run backwards. It is kept in microseconds because
 * fences and record versions are.
 *
 * The highest instant any writer has used is kept in the database (`holdfast_head.clock`), read when
 * a write transaction begins and written when it ends. That is one more column in a row that every
 * transaction writes anyway, and it makes the clock one clock for all processes on the file, also
 * after a restart with the host's clock set back. A mark that was written only now and then was the
 * other choice: it would let the clock fall back by as much as it was late.
 *
 * What if the host's clock was ahead and is put right? A second or less it waits for. Beyond that,
 * waiting would stop everything: nothing falls due and no lease runs out until real time has caught up,
 * which may be a year. So both clocks are noted as they stand, the anchor, and from there ours goes on at
 * nine tenths of the host's pace, until the host's has caught up and is followed again:
 *
 *     follows ──reading > 1 s below the mark──▶ ahead of its host ──reading reaches it──▶ follows
 *                                                 │          ▲
 *                                                 └─set back─┘  (anchored anew)
 *
 * The anchor is kept beside the mark, so all processes go by the same one.
 */

/** Where the two clocks stood when ours was found ahead. */
export interface Anchor {
  readonly mark: number;
  readonly wall: number;
}

/** What the database remembers of the clock. */
export interface Mark {
  readonly clock: number;
  readonly anchor: Anchor | null;
}

const NEVER: Mark = { clock: 0, anchor: null };
/** So far behind, the host's clock is waited for. */
const WAITED_FOR_MICROS = 1_000_000;
/** Of the host's pace, while it is behind. */
const PACE = 0.9;

export class Clock {
  readonly #source: () => number;
  #micros = 0;
  /** What the host's clock said at the last reading. */
  #wall = -Infinity;
  #anchor: Anchor | null = null;

  constructor(source: () => number) {
    this.#source = source;
  }

  /** As it was at the last reading, for whoever writes the mark. Null: it follows its host. */
  get anchor(): Anchor | null {
    return this.#anchor;
  }

  /** Reads the clock. `seen` is what the database remembers of other processes. */
  micros(seen: Mark = NEVER): number {
    const wall = Math.floor(this.#source() * 1000);
    const mark = Math.max(this.#micros, seen.clock);
    const anchor = this.#anchorFor(wall, seen.anchor);
    const reading =
      anchor === null
        ? wall
        : Math.max(wall, anchor.mark + Math.floor(PACE * (wall - anchor.wall)));
    this.#micros = Math.max(mark, reading);
    this.#wall = wall;
    if (reading < mark - WAITED_FOR_MICROS) this.#anchor = { mark, wall };
    else this.#anchor = wall >= this.#micros ? null : anchor;
    return this.#micros;
  }

  #anchorFor(wall: number, theirs: Anchor | null): Anchor | null {
    const own = this.#anchor;
    if (theirs === null || (own !== null && !isNewer(theirs, own))) return own;
    // This clock was not set back, so theirs is another one. To go by both would add up their difference.
    const isOfAnother = wall >= this.#wall && theirs.wall < this.#wall - WAITED_FOR_MICROS;
    return isOfAnother ? own : theirs;
  }
}

/** Marks only grow; at the same mark the clock was set back once more. */
function isNewer(a: Anchor, b: Anchor): boolean {
  return a.mark === b.mark ? a.wall < b.wall : a.mark > b.mark;
}

export function msOf(micros: number): number {
  return Math.floor(micros / 1000);
}

/** The instant so many milliseconds from now. Fractions round up: what was asked is never undercut. */
export function instantAfter(now: number, ms: number): number {
  return now + Math.max(0, Math.ceil(ms));
}
