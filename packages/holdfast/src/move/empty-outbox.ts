/**
 * What settles have left to be relayed, where no worker lives to do so: jobs that were spawned into other queues, and entries
 * for a ledger in another store. Left in the outbox they would stay behind.
 */
import { MoveRefusedError } from "../core/errors.ts";
import { WAITING_ENTRIES } from "../core/ledger.ts";
import type { Store } from "../core/store.ts";

const PAGE = 100;

/** Into the store itself, from where they are copied: jobs to their queues, entries to where they wait. */
export async function emptyOutbox(store: Store): Promise<void> {
  for (;;) {
    const items = await store.outbox.read(PAGE);
    if (items.length === 0) return;
    for (const item of items) {
      if (item.kind === "entries") {
        const swaps = item.entries.map((entry) => ({
          ...{ key: WAITING_ENTRIES + entry.id, expect: null },
          ...{ value: JSON.stringify(entry), ttlMs: null },
        }));
        await store.records.swap(swaps);
        continue;
      }
      const results = await store.insert(item.jobs, { evenIfFull: true });
      if (results.every(({ outcome }) => outcome !== "busy")) continue;
      throw new MoveRefusedError(
        "a transaction of the old store is open and decides about a key: end the programs that use it, then move again",
      );
    }
    await store.outbox.clear(items.map(({ id }) => id));
  }
}
