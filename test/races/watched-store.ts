import type { Store } from "../../packages/holdfast/src/index.ts";
import type { SeenLease } from "./orders.ts";

export interface WatchedStore {
  readonly store: Store;
  /** Every lease this process had, with when it had it. */
  seenLeases(): SeenLease[];
}

/** Writes down when a lease came with a reply, and when the settle that ends it was sent. */
export function watchedStore(store: Store): WatchedStore {
  const seen = new Map<string, SeenLease>();
  return {
    store: {
      ...store,
      async lease(request) {
        const reply = await store.lease(request);
        const from = monotonicMs();
        for (const { id, group, fence } of reply.jobs) {
          const { worker } = request;
          seen.set(`${id} ${fence}`, { id, group, fence, worker, from, until: Infinity });
        }
        return reply;
      },
      settle(settlements) {
        const until = monotonicMs();
        for (const { id, fence } of settlements) {
          const lease = seen.get(`${id} ${fence}`);
          // The first one: a settle that is sent again may find its job leased elsewhere.
          if (lease?.until === Infinity) seen.set(`${id} ${fence}`, { ...lease, until });
        }
        return store.settle(settlements);
      },
    },
    seenLeases: () => [...seen.values()],
  };
}

function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
