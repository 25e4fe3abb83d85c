/**
 * The store's clock: the host's, made to never run backwards. It is kept in microseconds because
 * fences and record versions are.
 *
 * The highest instant any writer has used is kept in the database (`holdfast_head.clock`), read when
 * a write transaction begins and written when it ends. That is one more column in a row that every
 * transaction writes anyway, and it makes the clock one clock for all processes on the file, also
 * after a restart with the host's clock set back. A mark that was written only now and then was the
 * other choice: it would let the clock fall back by as much as it was late.
 */
export class Clock {
  readonly #source: () => number;
  #micros = 0;

  constructor(source: () => number) {
    this.#source = source;
  }

  /** Reads the clock. `seen` is what the database remembers of other processes. */
  micros(seen = 0): number {
    this.#micros = Math.max(this.#micros, seen, Math.floor(this.#source() * 1000));
    return this.#micros;
  }
}

export function msOf(micros: number): number {
  return Math.floor(micros / 1000);
}

/** The instant so many milliseconds from now. Fractions round up: what was asked is never undercut. */
export function instantAfter(now: number, ms: number): number {
  return now + Math.max(0, Math.ceil(ms));
}
