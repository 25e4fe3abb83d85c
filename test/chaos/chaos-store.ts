/**
 * What the harness needs of a store. Another store is one more file in `stores/` and a row here.
 *
 * A store that is a server names its nodes: children then reach them through proxies of their own,
 * and the server itself is struck through `halt` and `resume`.
 */
import type { Store } from "../../packages/holdfast/src/index.ts";
import type { CallersTransaction } from "../../packages/holdfast/src/testing/conformance/scenario.ts";
import type { StrikeCounts } from "./strikes.ts";
import type { SlotOutage } from "./witness.ts";

export interface ChaosStore {
  /** Starts what the store needs; its files live in `folder`, or in a place that `stop` removes. */
  start(folder: string): Promise<StartedStore>;
  /** In every process: the store at the URL. */
  open(url: string): Store;
  /** In a worker's process: the store, and the way to transactions that it takes part in. */
  openWithTransactions?(url: string): ChaosTransactions;
}

/** Nobody closes it: it ends with its process. */
export interface ChaosTransactions {
  readonly store: Store;
  begin(): Promise<CallersTransaction>;
}

export interface StartedStore {
  readonly url: string;
  /** Where its nodes listen, each as `host:port`, if it is a server. */
  readonly nodes?: readonly string[];
  readonly server?: ChaosServer;
  /** Could anybody write at this moment? Must answer within about 200 ms. */
  canWrite(): Promise<boolean>;
  /** What the store's own check finds wrong; empty if all is well. */
  integrity(): Promise<string[]>;
  stop(): Promise<void>;
}

export interface ChaosServer {
  /** Without what `halt` ends there is no store at all: it has only one node. */
  readonly isWhole: boolean;
  /** Resolves when it can bear to lose a node: all that were ended are back. */
  ready?(): Promise<void>;
  /** Ends it, or the node that matters most: in order, or as kill -9 does. */
  halt(how: "fast" | "kill"): Promise<void>;
  /** Starts again what was ended. Resolves when the store can be written to. */
  resume(): Promise<void>;
  /** Makes the replica the primary, in order, and lets the address follow. */
  failOver?(): Promise<void>;
  /** Moves what the store uses to other nodes, while it is used; the first time to a node that it adds. */
  moveSlots?(): Promise<readonly SlotOutage[]>;
}

/** What a run does by default, in full and in the short form that belongs to the tests. */
export interface ChaosPlan {
  readonly full: StrikeCounts;
  readonly quick: StrikeCounts;
  /** How soon every worker must take a new job after the store is within its reach again. */
  readonly healMs: number;
  /** Of a hundred jobs so many settle in a transaction of their handler. */
  readonly transactions?: { readonly full: number; readonly quick: number };
  /** How long the server keeps a transaction open whose client is gone. Default: not at all. */
  readonly transactionMs?: number;
}

const NONE_OF_SOME = { commitKills: 0, failovers: 0, moves: 0 };
const NO_SERVER = { faults: 0, restarts: 0, serverKills: 0, outages: 0, ...NONE_OF_SOME };
const ON_SERVERS: ChaosPlan = {
  full: {
    ...{ kills: 20, stops: 5, terms: 3, producerKills: 3 },
    ...{ faults: 10, restarts: 3, serverKills: 1, outages: 1, ...NONE_OF_SOME },
  },
  quick: {
    ...{ kills: 3, stops: 1, terms: 1, producerKills: 1 },
    ...{ faults: 4, restarts: 1, serverKills: 1, outages: 1, ...NONE_OF_SOME },
  },
  healMs: 5_000,
};

const STORES = {
  sqlite: {
    load: async () => (await import("./stores/sqlite.ts")).sqlite,
    plan: {
      full: { kills: 50, stops: 10, terms: 5, producerKills: 5, ...NO_SERVER },
      quick: { kills: 6, stops: 2, terms: 1, producerKills: 1, ...NO_SERVER },
      healMs: 0,
    },
  },
  postgres: {
    load: async () => (await import("./stores/postgres.ts")).postgres,
    plan: {
      ...ON_SERVERS,
      full: { ...ON_SERVERS.full, commitKills: 5 },
      transactions: { full: 5, quick: 5 },
    },
  },
  redis: {
    load: async () => (await import("./stores/redis.ts")).redis,
    plan: ON_SERVERS,
  },
  "redis-cluster": {
    load: async () => (await import("./stores/redis.ts")).redisCluster,
    plan: {
      full: { ...ON_SERVERS.full, moves: 6 },
      // Until the store says TRYAGAIN where it must, moves are for the full run.
      quick: ON_SERVERS.quick,
      healMs: 10_000,
    },
  },
  "redis-failover": {
    load: async () => (await import("./stores/redis-failover.ts")).redisFailover,
    plan: {
      full: { ...ON_SERVERS.full, restarts: 0, serverKills: 0, failovers: 5 },
      quick: { ...ON_SERVERS.quick, restarts: 0, serverKills: 0, failovers: 2 },
      healMs: 10_000,
    },
  },
  mongodb: {
    load: async () => (await import("./stores/mongodb.ts")).mongodb,
    plan: {
      full: { ...ON_SERVERS.full, restarts: 0, serverKills: 3, commitKills: 10 },
      quick: { ...ON_SERVERS.quick, restarts: 0 },
      // From the election on.
      healMs: 10_000,
      // In the quick run once it was seen to pass there: a killed worker's transaction outlasts six leases.
      transactions: { full: 5, quick: 0 },
      // 20 s, and it looks every ten.
      transactionMs: 30_000,
    },
  },
} satisfies Record<string, { load: () => Promise<ChaosStore>; plan: ChaosPlan }>;

export type ChaosStoreName = keyof typeof STORES;
export const CHAOS_STORES = Object.keys(STORES) as ChaosStoreName[];

export function chaosStore(name: ChaosStoreName): Promise<ChaosStore> {
  return STORES[name].load();
}

export function chaosPlan(name: ChaosStoreName): ChaosPlan {
  return STORES[name].plan;
}
