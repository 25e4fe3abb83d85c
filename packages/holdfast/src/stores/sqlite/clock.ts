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
 * A host's clock that was ahead and is put right is not waited for: `core/steady-clock.ts` says how ours
 * goes on. Where the two stood then, the anchor, is kept beside the mark, so all processes go by the same
 * one.
 */
import { readSteadily } from "../../core/steady-clock.ts";

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

export class Clock {
  readonly #source: () => number;
  #micros = 0;
  #anchor: Anchor | null = null;
  /** The newest that was heard of; it may be over. */
  #lastAnchor: Anchor | null = null;

  constructor(source: () => number) {
    this.#source = source;
  }

  /** As it was at the last reading, for the transaction that writes the mark. Null: it follows its host. */
  get anchor(): Anchor | null {
    return this.#anchor;
  }

  /** Reads the clock. `seen` is what the database remembers of other processes. */
  micros(seen: Mark = NEVER): number {
    const wall = Math.floor(this.#source() * 1000);
    const mark = Math.max(this.#micros, seen.clock);
    if (wall >= mark) {
      this.#micros = wall;
      this.#anchor = null;
    } else {
      this.#readBehind(wall, mark, seen.anchor);
    }
    return this.#micros;
  }

  /** The host's clock is behind, by a moment or by years. */
  #readBehind(wall: number, mark: number, theirs: Anchor | null): void {
    if (theirs !== null && isNewer(theirs, this.#lastAnchor)) {
      this.#anchor = theirs;
      this.#lastAnchor = theirs;
    }
    const anchor = this.#anchor;
    const ahead = anchor && { mark: anchor.mark / 1000, host: anchor.wall / 1000 };
    const next = readSteadily({ mark: mark / 1000, ahead }, wall / 1000);
    this.#micros = Math.max(mark, Math.floor(next.mark * 1000));
    if (next.ahead !== null && next.ahead !== ahead) {
      this.#anchor = { mark, wall };
      this.#lastAnchor = this.#anchor;
    }
  }
}

/** Marks only grow; at the same mark the clock was set back once more. */
function isNewer(a: Anchor, b: Anchor | null): boolean {
  return b === null || a.mark > b.mark || (a.mark === b.mark && a.wall < b.wall);
}

export function msOf(micros: number): number {
  return Math.floor(micros / 1000);
}

/** The instant so many milliseconds from now. Fractions round up: what was asked is never undercut. */
export function instantAfter(now: number, ms: number): number {
  return now + Math.max(0, Math.ceil(ms));
}
