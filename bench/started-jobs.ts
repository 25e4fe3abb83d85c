/** Which jobs of a drain have started, and how often: nobody's speed counts if jobs are lost on the way. */

/** So long without a new job, and the rest will not come. Longer than the slowest peer's poll. */
const PATIENCE_MS = 5_000;

export class StartedJobs {
  readonly #times: Uint8Array;
  #distinct = 0;
  #twice = 0;
  #lastAt = 0;

  /** The jobs are numbered from 0. */
  constructor(count: number) {
    this.#times = new Uint8Array(count);
  }

  add(order: number): void {
    const times = this.#times[order] ?? 0;
    this.#times[order] = times + 1;
    if (times > 0) this.#twice += 1;
    else if (++this.#distinct === this.#times.length) this.#allHere();
    this.#lastAt = performance.now();
  }

  /** Once all have started, or no more come. */
  async losses(): Promise<{ readonly lost: number; readonly twice: number }> {
    const all = this.#times.length;
    if (this.#distinct < all) {
      await new Promise<void>((resolve) => {
        const look = setInterval(() => {
          if (performance.now() - this.#lastAt > PATIENCE_MS) this.#allHere();
        }, 500);
        this.#allHere = () => {
          clearInterval(look);
          resolve();
        };
      });
    }
    return { lost: all - this.#distinct, twice: this.#twice };
  }

  #allHere: () => void = () => {};
}
