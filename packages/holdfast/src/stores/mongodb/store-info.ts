/** What this store can do, as it is open now. */
import type { StoreInfo } from "../../core/store.ts";

/** What the server said of itself. */
export interface ServerFacts {
  readonly version: string;
  /** A replica set has transactions; a standalone server has none. */
  readonly isReplicaSet: boolean;
  /** Nodes that can become primary. */
  readonly nodes: number;
  /** How long its client may take to give up a server that fell silent. Null: it does not say. */
  readonly silenceMs: number | null;
}

/** Longer, and every worker may stand still for longer than a lease. */
const LONG_SILENCE_MS = 10_000;

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
    renewsInTransactions: true,
    wakeups: "processes",
    counts: "exact",
    insertAtomic: "job",
    spawnsElsewhere: "atomic",
    remembersMs,
    warnings: warningsOf(facts?.silenceMs ?? 0),
  };
}

function warningsOf(silenceMs: number): string[] {
  if (silenceMs <= LONG_SILENCE_MS) return [];
  return [
    `the client of this Db gives up a server that fell silent only after ${silenceMs / 1_000} s, and workers stand still meanwhile: ` +
      "make it with { connectTimeoutMS: 3000, heartbeatFrequencyMS: 2000 }, or give mongodbStore a url",
  ];
}
