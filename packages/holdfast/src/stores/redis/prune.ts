/**
 * Pruning in bounded steps. First a look at all queues finds those that have something to prune: of thousands
 * most have nothing. Those are pruned some at a time, the ones with the oldest jobs first.
 */
import { FINISHED_STATUSES } from "../../core/job.ts";
import type { Retention } from "../../core/store.ts";
import { orEmpty } from "./args.ts";
import type { Arg } from "./client-like.ts";
import { eachAtOnce } from "./each-at-once.ts";
import type { InsertHow } from "./insert.ts";
import { list, number, numberOrNull, rows } from "./reply.ts";
import { named } from "./touched.ts";

/** Deleting five hundred keeps the server busy for some milliseconds: no more in one step. */
const FEW_QUEUES = { queues: 20, step: 500 } as const;
/** Of many queues: the so many oldest jobs are in the so many queues whose oldest jobs are the oldest. */
const MANY_QUEUES = { queues: 100, step: 100 } as const;

type PruneHow = InsertHow & { readonly remembersMs: number };

export async function prune(
  how: PruneHow,
  policies: readonly Retention[],
  limit: number,
): Promise<number> {
  const sets = new RetentionSets(policies);
  let pruned = 0;
  let waiting = await look(how, await how.queues.all(), sets);
  while (waiting.length > 0) {
    const size = waiting.length <= FEW_QUEUES.queues ? FEW_QUEUES : MANY_QUEUES;
    const group = how.server.isCluster ? waiting.slice(0, 1) : waiting.slice(0, size.queues);
    const step = Math.min(size.step, Math.max(0, limit - pruned));
    const { deleted, isMore } = await pruneSome(how, group, { sets, step });
    pruned += deleted;
    const hasMoreJobs = step > 0 && deleted === step && pruned < limit;
    if (hasMoreJobs) waiting = await look(how, waiting, sets);
    else if (!isMore) waiting = waiting.slice(group.length);
  }
  await how.server.onRoot("records-sweep", how.server.keys.home, []);
  return pruned;
}

/** Those that have something to prune, the oldest first. */
async function look(
  { server }: PruneHow,
  names: readonly string[],
  sets: RetentionSets,
): Promise<string[]> {
  const found: { readonly queue: string; readonly oldestAt: number }[] = [];
  for (const some of server.inTurns(names)) {
    await eachAtOnce(some, async (slot) => {
      const reply = list(await server.onQueues("prune-look", slot, sets.args(slot)));
      for (const [index, oldestAt] of rows(reply, 2)) {
        const queue = slot[number(index) - 1] ?? "";
        found.push({ queue, oldestAt: numberOrNull(oldestAt) ?? Infinity });
      }
    });
  }
  return found.sort((a, b) => (a.oldestAt < b.oldestAt ? -1 : 1)).map(({ queue }) => queue);
}

async function pruneSome(
  { server, queues, touched, remembersMs }: PruneHow,
  group: readonly string[],
  { sets, step }: { readonly sets: RetentionSets; readonly step: number },
): Promise<{ readonly deleted: number; readonly isMore: boolean }> {
  const args = [remembersMs, step, ...sets.args(group)];
  const [deleted, isMore, forgotten] = list(await server.onQueues("prune", group, args));
  const gone = named(forgotten, group);
  await queues.forgotten(gone);
  // That workers wait there is forgotten too: they are told to ask again, and are known again.
  for (const queue of gone) touched.woken.add(queue);
  return { deleted: number(deleted), isMore: number(isMore) === 1 };
}

/** As lua/retention.lua reads them. */
class RetentionSets {
  readonly #policies: readonly Retention[];
  readonly #named: ReadonlySet<string | null>;

  constructor(policies: readonly Retention[]) {
    this.#policies = policies;
    this.#named = new Set(policies.map(({ queue }) => queue));
  }

  args(queues: readonly string[]): Arg[] {
    const numbers = new Map<string | null, number>();
    const sets: Arg[] = [];
    const of = queues.map((queue) => {
      const name = this.#named.has(queue) ? queue : null;
      const known = numbers.get(name);
      if (known !== undefined) return known;
      numbers.set(name, numbers.size + 1);
      sets.push(...this.#setOf(name));
      return numbers.size;
    });
    return [numbers.size, ...sets, ...of];
  }

  /** A policy without a queue is for the queues that have none of their own for that status. */
  #setOf(queue: string | null): Arg[] {
    return FINISHED_STATUSES.flatMap((status) => {
      const ofStatus = this.#policies.filter((policy) => policy.status === status);
      const own = ofStatus.filter((policy) => policy.queue === queue);
      const inForce = own.length > 0 ? own : ofStatus.filter((policy) => policy.queue === null);
      const bounds = inForce.flatMap(({ olderThanMs, keep }) => [
        orEmpty(olderThanMs),
        orEmpty(keep),
      ]);
      return [inForce.length, ...bounds];
    });
  }
}
