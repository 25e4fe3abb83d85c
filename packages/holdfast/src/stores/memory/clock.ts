/**
 * The store's clock. It never runs backwards: see `core/steady-clock.ts` for what it does while its host's
 * clock is behind it. Otherwise a lease that ran out would be alive again, and a job that was due would be
 * early.
 *
 * A verb reads the clock once, so everything it does happens at one instant.
 */
import { readSteadily, UNREAD_CLOCK } from "../../core/steady-clock.ts";

export class Clock {
  readonly #source: () => number;
  #clock = UNREAD_CLOCK;

  constructor(source: () => number) {
    this.#source = source;
  }

  /** Reads the clock, in milliseconds. */
  now(): number {
    this.#clock = readSteadily(this.#clock, this.#source());
    return this.last;
  }

  /** What was read last, in milliseconds. */
  get last(): number {
    return Math.floor(this.#clock.mark);
  }

  /**
   * The next fence (or version) after `last`: max(last + 1, clock in µs). It grows by counting, and
   * the clock makes it grow even if the store forgot what the last one was.
   */
  fenceAfter(last: number): number {
    return Math.max(last + 1, Math.floor(this.#clock.mark * 1000));
  }
}

/** The instant so many milliseconds from now. Fractions round up: what was asked is never undercut. */
export function instantAfter(now: number, ms: number): number {
  return now + Math.max(0, Math.ceil(ms));
}
