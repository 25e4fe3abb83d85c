/**
 * What the store's clock says, by the rule that it follows its host's, never runs backwards and never
 * stands still for long. A store looks at its host's clock when it likes; whenever it does, it is noted here.
 */
import {
  readSteadily,
  UNREAD_CLOCK,
  type SteadyClock,
} from "../../../packages/holdfast/src/core/steady-clock.ts";

export class StoreClock {
  readonly #host: () => number;
  #clock: SteadyClock = UNREAD_CLOCK;

  constructor(host: () => number) {
    this.#host = host;
  }

  /** The store has looked at its host's clock and found this many milliseconds. */
  looked(hostMs: number): void {
    this.#clock = readSteadily(this.#clock, hostMs);
  }

  get micros(): number {
    return Math.floor(this.#clock.mark * 1000);
  }

  /** In milliseconds, as of the last look. */
  get now(): number {
    return Math.floor(this.#clock.mark);
  }

  /** What it would say if somebody looked now. */
  peek(): number {
    return Math.floor(readSteadily(this.#clock, this.#host()).mark);
  }

  /** The instant so long after now; what was asked is never undercut. */
  after(ms: number): number {
    return this.now + Math.max(0, Math.ceil(ms));
  }
}
