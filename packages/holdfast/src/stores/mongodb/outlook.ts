/** When a queue may have something for a caller. Reads only. */
import type { Database } from "./database.ts";
import { linesIn } from "./line-walk.ts";
import { nextDueAt } from "./move-due.ts";
import { heldUntil } from "./queue-book.ts";
import type { QueueDocument } from "./schema.ts";

/**
 * Now (or before) if a line is open, else when a job falls due or a hold ends, else Infinity. What is
 * only full is not worth coming back for (the settle that makes room sends a wakeup), and neither are
 * capped lines to a caller that wants nothing from them.
 */
export async function comeBackAt(
  db: Database,
  queue: QueueDocument,
  { now, wantsCapped }: { readonly now: number; readonly wantsCapped: boolean },
): Promise<number> {
  const queueHeldUntil = heldUntil(queue.holds, now);
  if (queueHeldUntil !== null) return queueHeldUntil;
  const [{ lines, room }, dueAt] = await Promise.all([
    linesIn(db, queue, { now }),
    nextDueAt(db, queue._id),
  ]);
  // What is due already waits like everything else in a full queue.
  if (room <= 0) return dueAt > now ? dueAt : nextDueAt(db, queue._id, now);
  let nextAt = dueAt;
  for (const line of lines) {
    if (!wantsCapped && line.isCapped) continue;
    if (line.room > 0 && line.heldUntil === null) return now;
    nextAt = Math.min(nextAt, line.heldUntil ?? Infinity);
  }
  return nextAt;
}
