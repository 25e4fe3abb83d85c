/** What this store can do, as it is open now. */
import type { StoreInfo } from "../../core/store.ts";
import type { ServerFacts } from "./open-database.ts";

export function describe(
  facts: ServerFacts | null,
  { remembersMs, listens }: { readonly remembersMs: number; readonly listens: boolean },
): StoreInfo {
  return {
    name: "postgres",
    version: facts === null ? "PostgreSQL (not open)" : `PostgreSQL ${facts.version}`,
    survives: {
      processKill: true,
      powerLoss: facts?.survivesPowerLoss ?? true,
      failover: facts?.survivesFailover ?? false,
    },
    transactions: true,
    transactionBlocksWriters: false,
    // Its row is locked, so the lease is promised instead of extended (`promises.ts`).
    renewsInTransactions: true,
    wakeups: listens ? "processes" : "process",
    counts: "exact",
    insertAtomic: "call",
    spawnsElsewhere: "atomic",
    remembersMs,
    ...(facts !== null && facts.warnings.length > 0 && { warnings: facts.warnings }),
  };
}
