import { FINISHED_STATUSES } from "../../core/job.ts";
import type { Retention } from "../../core/store.ts";
import { orEmpty } from "./args.ts";
import type { Arg } from "./client-like.ts";
import { statusNumber } from "./header.ts";
import type { Looking } from "./job-view.ts";
import { list, number } from "./reply.ts";

/** Deleting five hundred keeps the server busy for some milliseconds: no more in one step. */
const STEP = 500;

export async function prune(
  { server, queues, remembersMs }: Looking & { readonly remembersMs: number },
  policies: readonly Retention[],
  limit: number,
): Promise<number> {
  let pruned = 0;
  for (const slot of server.slots(await queues.all())) {
    const shelves = slot.flatMap((queue, index) => shelvesOf(queue, index + 1, policies));
    for (let isMore = true; isMore;) {
      const step = Math.min(STEP, Math.max(0, limit - pruned));
      const reply = list(await server.onQueues("prune", slot, [remembersMs, step, ...shelves]));
      const deleted = number(reply[0]);
      pruned += deleted;
      isMore = (step > 0 && deleted === step && pruned < limit) || number(reply[1]) === 1;
    }
  }
  await server.onRoot("records-sweep", server.keys.home, []);
  return pruned;
}

/** A policy without a queue is for the queues that have none of their own for that status. */
function shelvesOf(queue: string, index: number, policies: readonly Retention[]): Arg[] {
  return FINISHED_STATUSES.flatMap((status) => {
    const ofStatus = policies.filter((policy) => policy.status === status);
    const own = ofStatus.filter((policy) => policy.queue === queue);
    const inForce = own.length > 0 ? own : ofStatus.filter((policy) => policy.queue === null);
    if (inForce.length === 0) return [];
    const bounds = inForce.flatMap(({ olderThanMs, keep }) => [
      orEmpty(olderThanMs),
      orEmpty(keep),
    ]);
    return [index, statusNumber(status), inForce.length, ...bounds];
  });
}
