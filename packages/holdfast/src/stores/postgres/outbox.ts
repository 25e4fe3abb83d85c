/**
 * Entries for a ledger elsewhere, kept from the settle that wrote them until they are relayed. Jobs
 * spawned into other queues never pass through here: this store adds them in the same transaction.
 */
import type { LedgerEntry } from "../../core/ledger.ts";
import type { OutboxItem } from "../../core/store.ts";
import type { Asker } from "./queue-book.ts";
import { text } from "./row-values.ts";
import type { Transaction } from "./transaction.ts";

const ADD = `
  INSERT INTO holdfast.outbox (id, entries)
  SELECT u.id, u.entries FROM unnest($1::text[], $2::text[]) AS u (id, entries)
  ON CONFLICT (id) DO UPDATE SET entries = excluded.entries`;
const READ = "SELECT id, entries FROM holdfast.outbox ORDER BY n LIMIT $1";
const CLEAR = "DELETE FROM holdfast.outbox WHERE id = ANY ($1)";

/** Inside the settle. The id names the attempt, so an item has one name whoever reads it. */
export async function addToOutbox(
  tx: Transaction,
  items: readonly { readonly id: string; readonly entries: readonly LedgerEntry[] }[],
): Promise<void> {
  if (items.length === 0) return;
  const texts = items.map(({ entries }) => JSON.stringify(entries));
  await tx.rows(ADD, [items.map(({ id }) => id), texts]);
}

export async function readOutbox(db: Asker, limit: number): Promise<OutboxItem[]> {
  const rows = limit > 0 ? await db.rows(READ, [limit]) : [];
  return rows.map((row) => ({
    id: text(row, 0),
    kind: "entries",
    entries: JSON.parse(text(row, 1)) as LedgerEntry[],
  }));
}

export async function clearOutbox(db: Asker, ids: readonly string[]): Promise<void> {
  await db.rows(CLEAR, [ids]);
}
