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

const KEEPS_A_FILE: ReadonlySet<string> = new Set(["always", "everysec", "no", "yes"]);

export function describe(
  facts: ServerFacts | null,
  { remembersMs, isCluster }: { readonly remembersMs: number; readonly isCluster: boolean },
): RedisStoreInfo {
  return {
    name: "redis",
    version: facts === null ? "Redis (not open)" : facts.version,
    survives: {
      // Of the server, too: without an append-only file it starts again from its last snapshot, or empty.
      processKill: facts === null || KEEPS_A_FILE.has(facts.appendOnly),
      powerLoss: facts?.appendOnly === "always",
      // Replication is asynchronous, and WAIT narrows the gap without closing it.
      failover: false,
    },
    transactions: false,
    transactionBlocksWriters: false,
    hasSeveralServers: isCluster,
    wakeups: "processes",
    counts: "exact",
    insertAtomic: isCluster ? "job" : "call",
    spawnsElsewhere: isCluster ? "relayed" : "atomic",
    remembersMs,
    usedMemoryBytes: facts?.usedMemoryBytes ?? null,
    maxMemoryBytes: facts?.maxMemoryBytes ?? null,
    ...said(facts === null ? [] : findingsOf(facts)),
  };
}

function said(findings: readonly Finding[]): Pick<RedisStoreInfo, "findings" | "warnings"> {
  const troubles = findings.filter(({ level }) => level === "trouble");
  return { findings, warnings: troubles.map(({ message }) => message) };
}
