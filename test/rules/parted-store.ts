/**
 * A store of several servers, of which some can be out of reach: what concerns their queues is not answered. As a
 * Redis Cluster does it, a call about several queues does what it can, and fails if one of them failed.
 */
import { StoreUnavailableError, type Store } from "../../packages/holdfast/src/index.ts";

export interface PartedStore {
  /** The queues whose server does not answer. */
  readonly away: Set<string>;
  /** Leases of these are done all the same, and their part of the reply is lost. */
  readonly lost: string[];
  readonly link: (store: Store) => Store;
}

export function partedStore(): PartedStore {
  const away = new Set<string>();
  const lost: string[] = [];
  const isThere = ({ queue }: { readonly queue: string }) => !away.has(queue);

  /** Does it for those within reach, and fails if some were not. */
  async function inPart<Item extends { readonly queue: string }, Out>(
    items: readonly Item[],
    call: (there: readonly Item[]) => Promise<Out>,
  ): Promise<Out> {
    const there = items.filter(isThere);
    const out = await call(there);
    if (there.length < items.length) throw noAnswer();
    return out;
  }

  const link = (store: Store): Store => {
    const parted: Partial<Store> = {
      info: () => ({ ...store.info(), hasSeveralServers: true }),
      insert: (jobs, how) => inPart(jobs, (there) => store.insert(there, how)),
      renew: (renewals, leaseMs) => inPart(renewals, (there) => store.renew(there, leaseMs)),
      settle: (settlements) => inPart(settlements, (there) => store.settle(there)),
      async get(refs) {
        if (refs.some(({ queue }) => queue !== undefined && away.has(queue))) throw noAnswer();
        return store.get(refs);
      },
      async lease(request) {
        const reply = await store.lease(request);
        const unsure = request.queues.map(({ queue }) => queue).filter((queue) => away.has(queue));
        if (unsure.length === 0) return reply;
        for (const job of reply.jobs) if (!isThere(job)) lost.push(job.id);
        if (unsure.length === request.queues.length) throw noAnswer();
        return { ...reply, unsure, jobs: reply.jobs.filter(isThere) };
      },
      async disown(request) {
        if (request.queues.some((queue) => away.has(queue))) throw noAnswer();
        return store.disown(request);
      },
      async reap(request) {
        if (away.size > 0) throw noAnswer();
        return store.reap(request);
      },
    };
    return new Proxy(store, {
      get: (target, verb) => Reflect.get(parted, verb) ?? (Reflect.get(target, verb) as unknown),
    });
  };
  return { away, lost, link };
}

function noAnswer(): StoreUnavailableError {
  return new StoreUnavailableError("one server does not answer", { mayHaveHappened: true });
}
