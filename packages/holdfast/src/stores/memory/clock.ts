/**
 * The store's clock. It never runs backwards: when the host's clock jumps back, this one stands
 * still until the host has caught up. Otherwise a lease that ran out would be alive again, and a job
 * that was due would be early.
 *
 * A verb reads the clock once, so everything it does happens at one instant.
 */
export class Clock {
  readonly #source: () => number;
  #micros = 0;

  constructor(source: () => number) {
    this.#source = source;
  }

  /** Reads the clock, in milliseconds. */
  now(): number {
    this.#micros = Math.max(this.#micros, Math.floor(this.#source() * 1000));
    return Math.floor(this.#micros / 1000);
  }

  /**
   * The next fence (or version) after `last`: max(last + 1, clock in µs). It grows by counting, and
   * the clock makes it grow even if the store forgot what the last one was.
   */
  fenceAfter(last: number): number {
    return Math.max(last + 1, this.#micros);
  }
}

/** The instant so many milliseconds from now. Fractions round up: what was asked is never undercut. */
export function instantAfter(now: number, ms: number): number {
  return now + Math.max(0, Math.ceil(ms));
}
