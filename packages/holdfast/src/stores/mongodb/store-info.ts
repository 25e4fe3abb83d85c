/** What this store can do, as it is open now. */
import type { StoreInfo } from "../../core/store.ts";

/** What the server said of itself. */
export interface ServerFacts {
  readonly version: string;
  /** A replica set has transactions; a standalone server has none. */
  readonly isReplicaSet: boolean;
  /** Nodes that can become primary. */
  readonly nodes: number;
}

export function describe(facts: ServerFacts | null, remembersMs: number): StoreInfo {
  return {
    name: "mongodb",
    version: facts === null ? "MongoDB (not open)" : `MongoDB ${facts.version}`,
    survives: {
      processKill: true,
      powerLoss: true,
      failover: facts !== null && facts.nodes > 1,
    },
    transactions: facts?.isReplicaSet ?? false,
    transactionBlocksWriters: false,
    wakeups: "processes",
    counts: "exact",
    insertAtomic: "job",
    spawnsElsewhere: "atomic",
    remembersMs,
  };
}
