/**
 * Fair shares between the queues of one `lease` call, by weight.
 *
 * Each call gives every queue its part of the limit as credit. Whole credit is its share, the rest is
 * carried to its next call, so with a limit of 1 and weights 3 and 1 the second queue has every
 * fourth call and nobody starves. A queue that cannot fill its share saves nothing up, and what it
 * left goes to the others in a further round.
 *
 * The credits live in this process. Each process being fair makes all of them fair together.
 */
export interface Demand {
  readonly queue: string;
  readonly weight: number;
}

export class Shares {
  /** By queue; between -1 and 1. */
  readonly #credits = new Map<string, number>();

  /** Splits so many jobs. The parts add up, in the order of the demands. */
  split(demands: readonly Demand[], jobs: number): number[] {
    if (demands.length === 1) return [jobs];
    const total = demands.reduce((sum, demand) => sum + weightOf(demand), 0);
    const parts = demands.map((demand) => {
      const credit = (this.#credits.get(demand.queue) ?? 0) + (jobs * weightOf(demand)) / total;
      return { demand, credit, share: 0 };
    });
    let left = jobs;
    const charge = (part: (typeof parts)[number], share: number): void => {
      part.share += share;
      part.credit -= share;
      left -= share;
    };
    const richestFirst = () => parts.toSorted((a, b) => b.credit - a.credit);
    for (const part of richestFirst()) {
      charge(part, Math.min(left, Math.max(0, Math.floor(part.credit))));
    }
    // What is left is less than one job a queue: to those with the largest fraction.
    for (const part of richestFirst()) if (left > 0) charge(part, 1);
    for (const { demand, credit } of parts) {
      this.#credits.set(demand.queue, Math.min(1, Math.max(-1, credit)));
    }
    return parts.map(({ share }) => share);
  }

  /** It could not fill its share. */
  unfilled({ queue }: Demand): void {
    this.#credits.set(queue, 0);
  }
}

function weightOf({ weight }: Demand): number {
  return weight > 0 ? weight : 1;
}
