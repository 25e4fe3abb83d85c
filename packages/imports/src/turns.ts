/** So many at once, the others in their order; one that waits for too long goes without. */
export class Turns {
  readonly #most: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** False: its turn did not come in that time, and the body was not run. */
  async run(body: () => Promise<void>, { patienceMs }: { patienceMs: number }): Promise<boolean> {
    if (this.#running < this.#most) this.#running += 1;
    else if (!(await this.#turn(patienceMs))) return false;
    try {
      await body();
      return true;
    } finally {
      const [next] = this.#waiting;
      // The place goes on to the next one, or is free.
      if (next) next();
      else this.#running -= 1;
    }
  }

  #turn(patienceMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = (hasTurn: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(take);
        resolve(hasTurn);
      };
      const take = () => leave(true);
      const timer = setTimeout(() => leave(false), patienceMs);
      this.#waiting.add(take);
    });
  }
}
