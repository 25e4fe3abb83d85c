/**
 * How many jobs are leased at once from a queue whose lines are gated. A line that waits for its next grant would
 * be leased from by the dozen when its hold ends, and all but one would go back. So a lease that brought jobs back is
 * followed by smaller ones; as soon as none comes back they grow again, so that other lines lose a moment only.
 */

/** From here on there is no bound. */
const LARGE = 10_000;

export class LeaseSize {
  #most = LARGE;
  #taken = 0;
  #handedBack = 0;

  /** What may be asked for. */
  next(wanted: number): number {
    if (this.#taken > 0) {
      const ran = this.#taken - Math.min(this.#taken, this.#handedBack);
      this.#most =
        this.#handedBack === 0
          ? Math.min(LARGE, Math.max(this.#most, this.#taken) * 2)
          : ran + Math.ceil(this.#taken / 4);
      this.#taken = 0;
      this.#handedBack = 0;
    }
    return Math.min(wanted, this.#most);
  }

  leased(taken: number): void {
    this.#taken += taken;
  }

  handedBack(): void {
    this.#handedBack += 1;
  }
}
