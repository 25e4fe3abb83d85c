/**
 * Entries for a ledger elsewhere, kept from the settle that wrote them until they are relayed. Jobs
 * spawned into other queues never pass through here: this store adds them in the same step.
 */
import type { OutboxItem } from "../../core/store.ts";
import { copies } from "./snapshot.ts";
import type { MemoryState } from "./state.ts";

export function readOutbox(state: MemoryState, limit: number): OutboxItem[] {
  const items: OutboxItem[] = [];
  for (const item of state.outbox.values()) {
    if (items.length >= limit) break;
    items.push(
      item.kind === "entries"
        ? { ...item, entries: copies(item.entries) }
        : { ...item, jobs: copies(item.jobs) },
    );
  }
  return items;
}

export function clearOutbox(state: MemoryState, ids: readonly string[]): void {
  for (const id of ids) state.outbox.delete(id);
}
