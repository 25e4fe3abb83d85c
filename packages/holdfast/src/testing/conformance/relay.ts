import type { Store } from "../../core/store.ts";

/**
 * Does what the engine's relay chore does: carries spawned jobs that wait in the outbox to their
 * queues. Where a store stores them with the settle there are none, and this does nothing.
 */
export async function relay(store: Store): Promise<void> {
  for (const item of await store.outbox.read(100)) {
    if (item.kind !== "jobs") continue;
    await store.insert(item.jobs, { evenIfFull: true });
    await store.outbox.clear([item.id]);
  }
}
