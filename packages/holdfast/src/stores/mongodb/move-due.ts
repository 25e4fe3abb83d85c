/** Jobs whose time has come, let into their lines. Nobody can tell when: their place was fixed before. */
import type { Database } from "./database.ts";

/**
 * At most so many: a hundred thousand jobs due at once must not stall one call. Answers how many were
 * moved.
 */
export async function moveDue(
  db: Database,
  queue: string,
  { now, atMost }: { readonly now: number; readonly atMost: number },
): Promise<number> {
  const isDue = { due: queue, runAt: { $lte: now } };
  const sort = { runAt: 1, seq: 1 };
  const found = await db.find<{ _id: string }>("jobs", isDue, {
    sort,
    limit: atMost,
    projection: { _id: 1 },
  });
  if (found.length === 0) return 0;
  const ids = found.map(({ _id }) => _id);
  const move = [{ $set: { ready: "$due" } }, { $unset: ["due"] }];
  await db.updateMany("jobs", { _id: { $in: ids }, ...isDue }, move);
  return found.length;
}

/** When the next of them is due; Infinity: none is. */
export async function nextDueAt(db: Database, queue: string, after?: number): Promise<number> {
  const filter = { due: queue, ...(after === undefined ? {} : { runAt: { $gt: after } }) };
  const [next] = await db.find<{ runAt: number }>("jobs", filter, {
    sort: { runAt: 1, seq: 1 },
    limit: 1,
    projection: { _id: 0, runAt: 1 },
  });
  return next?.runAt ?? Infinity;
}
