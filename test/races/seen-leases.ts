/** What the leases that the racers saw say about the store. */
import type { SeenLease } from "./orders.ts";

/** Pairs of leases of one job that were held at the same time, or whose fences do not grow. */
export function contradictions(leases: readonly SeenLease[]): string[] {
  return [...Map.groupBy(leases, ({ id }) => id).values()].flatMap((ofJob) => {
    const inOrder = ofJob.toSorted((a, b) => a.from - b.from);
    return inOrder.flatMap((lease, index) => {
      const before = inOrder[index - 1];
      if (before === undefined) return [];
      const who = `${lease.id}: ${before.worker} (${before.fence}) and ${lease.worker} (${lease.fence})`;
      if (lease.from < before.until) return [`leased twice at once: ${who}`];
      return lease.fence > before.fence ? [] : [`the fence does not grow: ${who}`];
    });
  });
}

/** How many of these leases were held at the same moment, at most. */
export function mostAtOnce(leases: readonly SeenLease[]): number {
  const changes = leases.flatMap(({ from, until }) => [
    { at: from, by: 1 },
    { at: until, by: -1 },
  ]);
  // At one instant, those that end make room first.
  changes.sort((a, b) => (a.at !== b.at ? a.at - b.at : a.by - b.by));
  let held = 0;
  let most = 0;
  for (const { by } of changes) most = Math.max(most, (held += by));
  return most;
}
