/** What stands beside the jobs: records (schedules, gates, settings, locks), limits, holds, the ledger. */
import type { Store } from "../core/store.ts";

const PAGE = 100;
/** The fleet's own: whoever lives says so again by itself. What waits in a spool is of that machine. */
const LEFT_BEHIND = ["holdfast/workers/", "holdfast/worker-queues/", "holdfast/spool"];

/** Answers how many were new. What is there already stays as it is. */
export async function copyRecords(from: Store, to: Store): Promise<number> {
  let [cursor, copied]: [string | null, number] = [null, 0];
  const now = await from.now();
  do {
    const page = await from.records.scan({ prefix: "", limit: PAGE, cursor });
    cursor = page.nextCursor;
    const kept = page.records.filter(
      ({ key }) => !LEFT_BEHIND.some((prefix) => key.startsWith(prefix)),
    );
    const swaps = kept.map(({ key, value, expiresAt }) => ({
      ...{ key, value, expect: null },
      ttlMs: expiresAt === null ? null : Math.max(1, expiresAt - now),
    }));
    if (swaps.length === 0) continue;
    const results = await to.records.swap(swaps);
    copied += results.filter(({ swapped }) => swapped).length;
  } while (cursor !== null);
  return copied;
}

/** Limits, weights and holds of a queue and its lines, but for the hold that this move has made. */
export async function copyLines(
  { from, to }: { readonly from: Store; readonly to: Store },
  queue: string,
  isOurs: (reason: string) => boolean,
): Promise<void> {
  let cursor: string | null = null;
  const now = await from.now();
  do {
    const page = await from.lines(queue, { limit: PAGE, cursor });
    cursor = page.nextCursor;
    const lines = [
      ...(page.queue === null ? [] : [{ ...page.queue, group: null, weight: undefined }]),
      ...page.lines,
    ];
    for (const line of lines) {
      const { group, maxActive, weight, holds } = line;
      const bounds = {
        ...(maxActive !== null && { maxActive }),
        ...(weight !== undefined && weight !== 1 && { weight }),
        ...("maxWaiting" in line && line.maxWaiting !== null && { maxWaiting: line.maxWaiting }),
        ...("maxActivePerGroup" in line &&
          line.maxActivePerGroup !== null && { maxActivePerGroup: line.maxActivePerGroup }),
      };
      if (Object.keys(bounds).length > 0) await to.limit([{ queue, group, ...bounds }]);
      const kept = holds.filter(({ reason }) => !isOurs(reason));
      await to.hold(
        kept.map(({ owner, reason, by, until }) => ({
          ...{ queue, group, owner },
          hold: { reason, by, forMs: until === null ? null : Math.max(1, until - now) },
        })),
      );
    }
  } while (cursor !== null);
}

/** Answers how many entries were new. */
export async function copyLedger(
  from: Store,
  to: Store,
  onProgress: (entries: number) => void = () => {},
): Promise<number> {
  let [cursor, copied, seen]: [string | null, number, number] = [null, 0, 0];
  do {
    const page = await from.ledger.read({}, { limit: PAGE, cursor });
    cursor = page.nextCursor;
    const entries = page.entries.map(({ amendedAt: _, ...entry }) => entry);
    if (entries.length === 0) continue;
    const results = await to.ledger.append(entries);
    copied += results.filter((result) => result === "added").length;
    onProgress((seen += entries.length));
  } while (cursor !== null);
  return copied;
}
