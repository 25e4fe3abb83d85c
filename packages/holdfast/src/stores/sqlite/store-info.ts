/** What this store can do, as it is open now. */
import type { StoreInfo } from "../../core/store.ts";
import type { Connection } from "./connection.ts";

/** Earlier ones can corrupt a database when a log is reset by one connection under another's feet. */
const SAFE_VERSION = [3, 51, 3] as const;
const FULL = 2;

export function describe(
  connection: Connection | null,
  options: { readonly synchronous?: "full" | "normal"; readonly remembersMs: number },
): StoreInfo {
  const isInFile = connection === null || connection.path() !== null;
  const isFull =
    connection === null
      ? options.synchronous !== "normal"
      : Number(connection.value("PRAGMA synchronous")) >= FULL;
  return {
    name: "sqlite",
    version: versionText(connection),
    survives: { processKill: isInFile, powerLoss: isInFile && isFull, failover: false },
    transactions: true,
    transactionBlocksWriters: true,
    wakeups: isInFile ? "processes" : "process",
    counts: "exact",
    insertAtomic: "call",
    spawnsElsewhere: "atomic",
    remembersMs: options.remembersMs,
  };
}

function versionText(connection: Connection | null): string {
  const version = String(
    connection?.value("SELECT sqlite_version()") ?? process.versions["sqlite"] ?? "unknown",
  );
  const text = `SQLite ${version}, Node ${process.versions.node}`;
  return isOlder(version) ? `${text} (warning: older than 3.51.3, update Node)` : text;
}

function isOlder(version: string): boolean {
  const parts = version.split(".").map(Number);
  for (const [index, safe] of SAFE_VERSION.entries()) {
    const part = parts[index] ?? 0;
    if (part !== safe) return part < safe;
  }
  return false;
}
