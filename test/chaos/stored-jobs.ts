/** What the store holds, read through the seam: the same way for every store. */
import type { StoredJob } from "../../src/core/job.ts";
import type { Store } from "../../src/index.ts";

const PAGE = 200;

export async function waitingIn(store: Store): Promise<{ waiting: number; finished: number }> {
  let waiting = 0;
  let finished = 0;
  for (const counts of await store.count()) {
    waiting += counts.ready + counts.delayed + counts.processing;
    finished += counts.succeeded + counts.dead + counts.cancelled;
  }
  return { waiting, finished };
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
