/** The settings that decide what an acknowledgement survives, as the open connection reports them. */
const SYNCHRONOUS = ["OFF", "NORMAL", "FULL", "EXTRA"];

export function describeSqlite(driver: string, value: (sql: string) => unknown): string {
  const version = String(value("SELECT sqlite_version()"));
  const journal = String(value("PRAGMA journal_mode"));
  const synchronous = SYNCHRONOUS[Number(value("PRAGMA synchronous"))] ?? "unknown";
  return `${driver}, SQLite ${version}, journal_mode ${journal}, synchronous ${synchronous}`;
}
