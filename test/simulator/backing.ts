/** The real store under a simulated world, with one connection for each process. */
import type { Store } from "../../packages/holdfast/src/core/store.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";

export interface Backing {
  readonly name: string;
  /** Whoever looks at its clock, looks at the same: it may be set back without anybody noticing. */
  readonly hasOneClock: boolean;
  /** A process comes up; it has a connection of its own where the store is made of connections. */
  connect(process: string): Promise<void>;
  /** It is gone. Calls that it had sent may still arrive: they find the shared connection. */
  disconnect(process: string): Promise<void>;
  storeOf(process: string): Store;
  /** For looking at everything from outside. */
  readonly shared: Store;
  /** The store's own process ends and comes back. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export type MakeBacking = (options: BackingOptions) => Promise<Backing>;

export interface BackingOptions {
  readonly now: () => number;
  readonly remembersMs: number;
}

/** All processes share one; `make` may put a planted bug into it. */
export function memoryBacking(make: (options: BackingOptions) => Store = memoryStore): MakeBacking {
  return async (options) => {
    const store = make(options);
    await store.open();
    return {
      name: "memory",
      hasOneClock: true,
      shared: store,
      connect: async () => {},
      disconnect: async () => {},
      storeOf: () => store,
      async restart() {
        await store.close();
        await store.open();
      },
      close: () => store.close(),
    };
  };
}

export interface ConnectionsOptions {
  readonly name: string;
  /** One more connection to the same database. */
  readonly connect: (options: BackingOptions) => Store;
  readonly cleanUp: () => Promise<void>;
}

/** A store that is made of connections: every process has its own, as it would in the field. */
export function connectionsBacking({ name, connect, cleanUp }: ConnectionsOptions): MakeBacking {
  return async (options) => {
    const shared = connect(options);
    await shared.open();
    const stores = new Map<string, Store>();
    return {
      name,
      // Each connection remembers for itself what it read; only what was written is everybody's.
      hasOneClock: false,
      shared,
      async connect(process) {
        const store = connect(options);
        stores.set(process, store);
        await store.open();
      },
      async disconnect(process) {
        const store = stores.get(process);
        stores.delete(process);
        await store?.close();
      },
      storeOf: (process) => stores.get(process) ?? shared,
      async restart() {
        for (const store of [shared, ...stores.values()]) await store.close();
        for (const store of [shared, ...stores.values()]) await store.open();
      },
      async close() {
        for (const store of [shared, ...stores.values()]) await store.close();
        await cleanUp();
      },
    };
  };
}
