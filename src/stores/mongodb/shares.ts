/**
 * Fair shares between the queues of one `lease` call, by weight.
 *
 * Each call gives every queue its part of the limit as credit. Whole credit is its share, the rest is
 * carried to its next call, so with a limit of 1 and weights 3 and 1 the second queue has every
 * fourth call and nobody starves. A queue that cannot fill its share saves nothing up, and what it
 * left flows on to the others in a further round.
 *
 * The credits live in this process. Each process being fair makes all of them fair together.
 */
export interface Demand<Q> {
  readonly name: string;
  readonly queue: Q;
  /** Most it may get in this call. */
  readonly limit: number;
  readonly weight: number;
}

interface Claim<Q> extends Demand<Q> {
  got: number;
  credit: number;
}

export class Shares {
  /** By queue; between -1 and 1. */
  readonly #credits = new Map<string, number>();

  /** `take` hands out up to so many jobs of a queue and answers how many it was. */
  async shareOut<Q>(
    demands: readonly Demand<Q>[],
    limit: number,
    take: (queue: Q, atMost: number) => Promise<number>,
  ): Promise<void> {
    const [only] = demands;
    if (only !== undefined && demands.length === 1) {
      await take(only.queue, Math.min(limit, only.limit));
      return;
    }
    let left = limit;
    let hungry: Claim<Q>[] = demands.map((demand) => {
      return { ...demand, got: 0, credit: this.#credits.get(demand.name) ?? 0 };
    });
    while (left > 0 && hungry.length > 0) {
      const shares = split(hungry, left);
      const stillHungry: Claim<Q>[] = [];
      for (const claim of hungry) {
        const share = shares.get(claim) ?? 0;
        const most = Math.min(share, claim.limit - claim.got);
        const taken = most > 0 ? await take(claim.queue, most) : 0;
        claim.got += taken;
        left -= taken;
        const isFilled = taken === share;
        this.#credits.set(claim.name, isFilled ? claim.credit : 0);
        if (isFilled && claim.got < claim.limit) stillHungry.push(claim);
      }
      hungry = stillHungry;
    }
  }
}

/** Splits so many jobs and charges each claim for its part. The parts add up. */
function split<Q>(claims: readonly Claim<Q>[], jobs: number): Map<Claim<Q>, number> {
  const total = claims.reduce((sum, claim) => sum + weightOf(claim), 0);
  const shares = new Map<Claim<Q>, number>();
  let left = jobs;
  for (const claim of claims) claim.credit += (jobs * weightOf(claim)) / total;
  for (const claim of richestFirst(claims)) {
    const share = Math.min(left, Math.max(0, Math.floor(claim.credit)));
    charge(claim, share);
  }
  // What is left is less than one job a claim: to those with the largest fraction.
  for (const claim of richestFirst(claims)) if (left > 0) charge(claim, 1);
  for (const claim of claims) claim.credit = Math.min(1, Math.max(-1, claim.credit));
  return shares;

  function charge(claim: Claim<Q>, share: number): void {
    shares.set(claim, (shares.get(claim) ?? 0) + share);
    claim.credit -= share;
    left -= share;
  }
}

function richestFirst<Q>(claims: readonly Claim<Q>[]): Claim<Q>[] {
  return claims.toSorted((a, b) => b.credit - a.credit);
}

function weightOf({ weight }: { readonly weight: number }): number {
  return weight > 0 ? weight : 1;
}
