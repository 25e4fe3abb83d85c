/** So many at once, the others in their order. */
export class Turns {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async run<Out>(body: () => Promise<Out>): Promise<Out> {
    if (this.#running >= this.#most) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running += 1;
    }
    try {
      return await body();
    } finally {
      const next = this.#waiting.shift();
      // The place goes on to the next one, or is free.
      if (next) next();
      else this.#running -= 1;
    }
  }
}
