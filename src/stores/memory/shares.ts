/**
 * Fair shares between the queues of one `lease` call, by weight.
 *
 * Each call gives every queue its part of the limit as credit; what is whole is its share, and the
 * rest is carried to its next call. So with a limit of 1 and weights 3 and 1 the second queue has
 * every fourth call, and nobody starves. A queue that cannot fill its share saves nothing up for
 * later, and what it left flows on to the others in a further round.
 */
export interface Claimant {
  /** Carried from call to call, between -1 and 1. */
  credit: number;
}

export interface Demand<T extends Claimant> {
  readonly queue: T;
  /** Most it may get in this call. */
  readonly limit: number;
  readonly weight: number;
}

/** `take` hands out up to so many jobs of a queue and answers how many it was. */
export function shareOut<T extends Claimant>(
  demands: readonly Demand<T>[],
  limit: number,
  take: (queue: T, atMost: number) => number,
): void {
  let left = limit;
  let hungry = demands
    .filter((demand) => demand.limit > 0)
    .map((demand) => ({ ...demand, got: 0 }));
  while (left > 0 && hungry.length > 0) {
    const round = sharesOf(hungry, left);
    const stillHungry: typeof hungry = [];
    for (const { demand, share } of round) {
      const taken = share > 0 ? take(demand.queue, Math.min(share, demand.limit - demand.got)) : 0;
      demand.got += taken;
      left -= taken;
      if (taken < share) demand.queue.credit = 0;
      else if (demand.got < demand.limit) stillHungry.push(demand);
    }
    hungry = stillHungry;
  }
}

/** Splits so many jobs and charges each queue for its part. The parts add up. */
function sharesOf<D extends Demand<Claimant>>(
  demands: readonly D[],
  jobs: number,
): { readonly demand: D; share: number }[] {
  const totalWeight = demands.reduce((sum, demand) => sum + weightOf(demand), 0);
  for (const demand of demands) demand.queue.credit += (jobs * weightOf(demand)) / totalWeight;
  const richestFirst = demands.toSorted((a, b) => b.queue.credit - a.queue.credit);
  let left = jobs;
  const shares = richestFirst.map((demand) => {
    const share = Math.min(left, Math.max(0, Math.floor(demand.queue.credit)));
    left -= share;
    demand.queue.credit -= share;
    return { demand, share };
  });
  // What is left is less than one job a queue: to those with the largest fraction.
  shares.sort((a, b) => b.demand.queue.credit - a.demand.queue.credit);
  for (const item of shares) {
    if (left > 0) {
      left--;
      item.share++;
      item.demand.queue.credit--;
    }
    item.demand.queue.credit = Math.min(1, Math.max(-1, item.demand.queue.credit));
  }
  return shares;
}

function weightOf(demand: Demand<Claimant>): number {
  return demand.weight > 0 ? demand.weight : 1;
}
