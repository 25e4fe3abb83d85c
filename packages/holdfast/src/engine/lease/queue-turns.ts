/**
 * Which queue of a worker is asked first, where there may be less to have than their shares add up to: how many
 * jobs of capped lines a call takes is not shared out, and the first queue could have all of them each time.
 * So those come first that have had least, by weight.
 */
interface Share {
  readonly queue: string;
  readonly weight: number;
}

export class QueueTurns {
  /** How many jobs each has had, divided by its weight. */
  readonly #had = new Map<string, number>();

  inTurn<S extends Share>(shares: readonly S[]): readonly S[] {
    return shares.toSorted((one, other) => this.#hadBy(one) - this.#hadBy(other));
  }

  /** What came of asking these. */
  got(shares: readonly Share[], jobs: readonly { readonly queue: string }[]): void {
    const counts = new Map<string, number>();
    for (const { queue } of jobs) counts.set(queue, (counts.get(queue) ?? 0) + 1);
    const served = shares.filter(({ queue }) => counts.has(queue));
    // Whoever had nothing to give saves nothing up.
    const least = Math.min(...served.map((share) => this.#hadBy(share)));
    for (const share of shares) {
      const count = counts.get(share.queue) ?? 0;
      const before = this.#hadBy(share);
      if (count > 0) this.#had.set(share.queue, before + count / share.weight);
      else if (before < least && least < Infinity) this.#had.set(share.queue, least);
    }
  }

  #hadBy({ queue }: Share): number {
    return this.#had.get(queue) ?? 0;
  }
}
