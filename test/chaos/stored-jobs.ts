/** What the store holds, read through the seam: the same way for every store. */
import type { StoredJob } from "../../packages/holdfast/src/core/job.ts";
import { StoreUnavailableError, type Store } from "../../packages/holdfast/src/index.ts";

const PAGE = 200;

/** Null while the store is away. */
export async function waitingIn(
  store: Store,
): Promise<{ waiting: number; finished: number } | null> {
  const all = await countsOf(store);
  if (all === null) return null;
  let waiting = 0;
  let finished = 0;
  for (const counts of all) {
    waiting += counts.ready + counts.delayed + counts.processing;
    finished += counts.succeeded + counts.dead + counts.cancelled;
  }
  return { waiting, finished };
}

async function countsOf(store: Store) {
  try {
    return await store.count();
  } catch (error) {
    if (error instanceof StoreUnavailableError) return null;
    throw error;
  }
}

/** Every job, whole. */
export async function readStore(store: Store): Promise<{ stored: StoredJob[]; version: string }> {
  const stored: StoredJob[] = [];
  let cursor: string | null = null;
  do {
    const page = await store.find({}, { limit: PAGE, cursor, order: "oldest" });
    const refs = page.jobs.map(({ id, queue }) => ({ id, queue }));
    for (const found of await store.get(refs)) {
      if (found !== null && found !== "pruned") stored.push(found);
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  const { name, version } = store.info();
  return { stored, version: `${name} (${version})` };
}

/** What the store counts and what it holds must be the same, as far as it promises that. */
export async function miscounted(store: Store, stored: readonly StoredJob[]): Promise<string[]> {
  if (store.info().counts !== "exact") return [];
  const found: string[] = [];
  for (const { queue, ready, delayed, processing, ...counts } of await store.count()) {
    const { succeeded, dead, cancelled } = counts;
    const told = { queued: ready + delayed, processing, succeeded, dead, cancelled };
    for (const [status, count] of Object.entries(told)) {
      const held = stored.filter((job) => job.queue === queue && job.status === status).length;
      if (held !== count) found.push(`${queue}: ${count} ${status} are counted, ${held} are there`);
    }
  }
  return found;
}
