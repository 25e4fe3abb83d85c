/**
 * Entries for a ledger elsewhere, kept from the settle that wrote them until they are relayed. Jobs
 * spawned into other queues never pass through here: this store adds them itself.
 */
import type { OutboxItem } from "../../core/store.ts";
import type { Database } from "./database.ts";
import type { OutboxDocument } from "./schema.ts";

export async function readOutbox(db: Database, limit: number): Promise<OutboxItem[]> {
  if (limit <= 0) return [];
  const items = await db.find<OutboxDocument>("outbox", {}, { sort: { seq: 1 }, limit });
  return items.map(({ _id: id, entries }) => ({ id, kind: "entries", entries }));
}

export async function clearOutbox(db: Database, ids: readonly string[]): Promise<void> {
  await db.deleteMany("outbox", { _id: { $in: ids } });
}
