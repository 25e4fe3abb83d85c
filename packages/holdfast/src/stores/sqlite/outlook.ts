/** When a queue may have something for a caller. Reads only. */
import type { Connection } from "./connection.ts";
import { onlyFree } from "./line-book.ts";
import { FOREVER, type Queue } from "./queue-book.ts";

/** Open lines looked at for a ready job. More than that are believed: the lease will see. */
const LOOK_AT_LINES = 64;

const HAS_OPEN = `
  SELECT 1 FROM (
    SELECT line FROM holdfast_line INDEXED BY holdfast_line_open
    WHERE q = ? AND state = 1 LIMIT ${LOOK_AT_LINES}) o
  WHERE EXISTS (SELECT 1 FROM holdfast_ready r WHERE r.line = o.line) LIMIT 1`;
const HAS_MANY_OPEN = `
  SELECT 1 FROM holdfast_line INDEXED BY holdfast_line_open
  WHERE q = ? AND state = 1 LIMIT 1 OFFSET ${LOOK_AT_LINES}`;
const HAS_FREE = onlyFree(HAS_OPEN);
const HAS_MANY_FREE = onlyFree(HAS_MANY_OPEN);
const NEXT_DUE = `
  SELECT run_at FROM holdfast_later INDEXED BY holdfast_later_due
  WHERE q = ? ORDER BY run_at LIMIT 1`;
/** What is due already waits like everything else in a full queue; only what will be can be named. */
const NEXT_DUE_LATER = `
  SELECT run_at FROM holdfast_later INDEXED BY holdfast_later_due
  WHERE q = ? AND run_at > ? ORDER BY run_at LIMIT 1`;
const NEXT_HOLD_END = `
  SELECT held_until FROM holdfast_line n INDEXED BY holdfast_line_held
  WHERE q = ? AND state = 2 AND held_until < ${FOREVER}
    AND EXISTS (SELECT 1 FROM holdfast_ready r WHERE r.line = n.line)
  ORDER BY held_until LIMIT 1`;

const NEXT_FREE_HOLD_END = NEXT_HOLD_END.replace("state = 2", "state = 2 AND max_active IS NULL");

const ALL = { some: HAS_OPEN, many: HAS_MANY_OPEN, holdEnd: NEXT_HOLD_END };
const UNCAPPED = { some: HAS_FREE, many: HAS_MANY_FREE, holdEnd: NEXT_FREE_HOLD_END };

/**
 * Now (or before) if a line is open, else when a job falls due or a hold ends, else `FOREVER`. What is
 * only full is not worth coming back for (the settle that makes room sends a wakeup), and neither are
 * capped lines to a caller that wants nothing from them.
 */
export function comeBackAt(
  db: Connection,
  queue: Queue,
  { now, wantsCapped }: { readonly now: number; readonly wantsCapped: boolean },
): number {
  if (queue.heldUntil > now) return queue.heldUntil;
  if (queue.isFull)
    return (db.value(NEXT_DUE_LATER, queue.q, now) as number | undefined) ?? FOREVER;
  const { ready, delayed } = queue.counts;
  const nextDueAt = delayed === 0 ? FOREVER : instantOf(db, NEXT_DUE, queue);
  if (ready === 0) return nextDueAt;
  const isFree = queue.maxActive === null && queue.maxActivePerGroup === null;
  if (!wantsCapped && !isFree) return nextDueAt;
  const { some, many, holdEnd } = wantsCapped ? ALL : UNCAPPED;
  const hasOpen = db.value(some, queue.q) ?? db.value(many, queue.q);
  if (nextDueAt <= now || hasOpen !== undefined) return now;
  return Math.min(nextDueAt, instantOf(db, holdEnd, queue));
}

function instantOf(db: Connection, sql: string, queue: Queue): number {
  return (db.value(sql, queue.q) as number | undefined) ?? FOREVER;
}
