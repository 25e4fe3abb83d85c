/**
 * Fair shares between the queues of one `lease` call, by weight.
 *
 * Each call gives every queue its part of the limit as credit. Whole credit is its share, the rest is
 * carried to its next call, so with a limit of 1 and weights 3 and 1 the second queue has every
 * fourth call and nobody starves. A queue that cannot fill its share saves nothing up, and what it
 * left flows on to the others in a further round.
 *
 * The credits live in one process. Each process being fair makes all of them fair together.
 */
export interface Claimant {
  readonly name: string;
  readonly weight: number;
}

export interface Demand extends Claimant {
  /** Most it may get in this call. */
  readonly limit: number;
}

/** Who is asked next, and for how many. */
export interface Ask<D extends Demand> {
  readonly demand: D;
  readonly atMost: number;
}

export class Shares {
  /** By queue; between -1 and 1. */
  readonly #credits = new Map<string, number>();

  /** `take` hands out up to so many jobs of a queue and answers how many it was. */
  shareOut<D extends Demand>(
    demands: readonly D[],
    limit: number,
    take: (demand: D, atMost: number) => number,
  ): void {
    const rounds = this.rounds(demands, limit);
    for (let next = rounds.next(); next.done !== true;) {
      next = rounds.next(take(next.value.demand, next.value.atMost));
    }
  }

  /** Whom to ask, round by round, for those who must await the answer. Each `next` tells how many jobs the last one gave. */
  *rounds<D extends Demand>(demands: readonly D[], limit: number): Generator<Ask<D>, void, number> {
    const [only] = demands;
    if (only !== undefined && demands.length === 1) {
      yield { demand: only, atMost: Math.min(limit, only.limit) };
      return;
    }
    let left = limit;
    let hungry = demands.map((demand) => ({ demand, got: 0 }));
    while (left > 0 && hungry.length > 0) {
      const shares = this.split(
        hungry.map(({ demand }) => demand),
        left,
      );
      const stillHungry: typeof hungry = [];
      for (const [index, claim] of hungry.entries()) {
        const { demand } = claim;
        const share = shares[index] ?? 0;
        const atMost = Math.min(share, demand.limit - claim.got);
        const taken = atMost > 0 ? yield { demand, atMost } : 0;
        claim.got += taken;
        left -= taken;
        if (taken < share) this.unfilled(demand);
        else if (claim.got < demand.limit) stillHungry.push(claim);
      }
      hungry = stillHungry;
    }
  }

  /** Splits so many jobs. The parts add up, in the order of the claimants. */
  split(claimants: readonly Claimant[], jobs: number): number[] {
    if (claimants.length === 1) return [jobs];
    const total = claimants.reduce((sum, claimant) => sum + weightOf(claimant), 0);
    const parts = claimants.map((claimant) => {
      const carried = this.#credits.get(claimant.name) ?? 0;
      return { claimant, credit: carried + (jobs * weightOf(claimant)) / total, share: 0 };
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
    for (const { claimant, credit } of parts) {
      this.#credits.set(claimant.name, Math.min(1, Math.max(-1, credit)));
    }
    return parts.map(({ share }) => share);
  }

  /** It could not fill its share. */
  unfilled({ name }: Claimant): void {
    this.#credits.set(name, 0);
  }
}

function weightOf({ weight }: Claimant): number {
  return weight > 0 ? weight : 1;
}
