/** What this store can do, as it is open now. */
import type { StoreInfo } from "../../core/store.ts";
import { findingsOf, type Finding, type ServerFacts } from "./server-facts.ts";

export interface RedisStoreInfo extends StoreInfo {
  /** When the store was opened, and after every prune. */
  readonly usedMemoryBytes: number | null;
  readonly maxMemoryBytes: number | null;
  /** What an operator should know of this server. */
  readonly findings: readonly Finding[];
}

export function describe(
  facts: ServerFacts | null,
  { remembersMs, isCluster }: { readonly remembersMs: number; readonly isCluster: boolean },
): RedisStoreInfo {
  return {
    name: "redis",
    version: facts === null ? "Redis (not open)" : facts.version,
    survives: {
      // Of the server's process: without an append-only file a restart goes back to its last snapshot.
      processKill: facts !== null && facts.appendOnly !== "off",
      powerLoss: facts?.appendOnly === "always",
      // Replication is asynchronous, and WAIT narrows the gap without closing it.
      failover: false,
    },
    transactions: false,
    transactionBlocksWriters: false,
    wakeups: "processes",
    counts: "exact",
    insertAtomic: isCluster ? "job" : "call",
    spawnsElsewhere: isCluster ? "relayed" : "atomic",
    remembersMs,
    usedMemoryBytes: facts?.usedMemoryBytes ?? null,
    maxMemoryBytes: facts?.maxMemoryBytes ?? null,
    findings: facts === null ? [] : findingsOf(facts),
  };
}
