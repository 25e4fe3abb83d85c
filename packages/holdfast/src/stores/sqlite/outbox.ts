/**
 * Entries for a ledger elsewhere, kept from the settle that wrote them until they are relayed. Jobs
 * spawned into other queues never pass through here: this store adds them in the same transaction.
 */
import type { LedgerEntry } from "../../core/ledger.ts";
import type { OutboxItem } from "../../core/store.ts";
import type { Connection } from "./connection.ts";
import type { Transaction } from "./transaction.ts";

const ADD = `
  INSERT INTO holdfast_outbox (id, entries) VALUES (?, ?)
  ON CONFLICT (id) DO UPDATE SET entries = excluded.entries`;
const READ = "SELECT id, entries FROM holdfast_outbox ORDER BY n LIMIT ? + 0";
const CLEAR = "DELETE FROM holdfast_outbox WHERE id = ?";

/** Inside the settle. The id names the attempt, so an item has one name whoever reads it. */
export function addToOutbox(tx: Transaction, id: string, entries: readonly LedgerEntry[]): void {
  tx.db.run(ADD, id, JSON.stringify(entries));
}

export function readOutbox(db: Connection, limit: number): OutboxItem[] {
  const rows = limit > 0 ? db.rows<[string, string]>(READ).all(limit) : [];
  return rows.map(([id, entries]) => ({
    id,
    kind: "entries",
    entries: JSON.parse(entries) as LedgerEntry[],
  }));
}

export function clearOutbox(tx: Transaction, ids: readonly string[]): void {
  for (const id of ids) tx.db.run(CLEAR, id);
}
