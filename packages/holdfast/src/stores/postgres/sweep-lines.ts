/** Lines whose settings say nothing any more, and what follows when a queue has no others. */
import { number } from "./row-values.ts";
import type { Transaction } from "./transaction.ts";

/** How many lines of settings that say nothing any more one sweep clears. */
const SWEEP_AT_MOST = 1_000;
const SWEEP_LINES = `
  DELETE FROM holdfast.line l USING (
    SELECT x.q, x.grp FROM holdfast.line x
    WHERE x.weight IS NULL AND x.max_active IS NULL AND x.held_until <= $1
      AND NOT x.is_shut
      AND NOT EXISTS (SELECT 1 FROM holdfast.hold h
        WHERE h.q = x.q AND NOT h.is_queue AND h.grp = x.grp AND (h.until IS NULL OR h.until > $1))
    LIMIT ${SWEEP_AT_MOST} FOR UPDATE SKIP LOCKED) s
  WHERE l.q = s.q AND l.grp = s.grp`;

/**
 * A queue whose last line with settings has gone is leased from the quick way again. Whoever adds a
 * line locks its queue first: so once we have that lock, what we see is so.
 */
const LOCK_QUEUES_WITHOUT_LINES = `
  SELECT q.q FROM holdfast.queue q
  WHERE q.has_lines AND NOT EXISTS (SELECT 1 FROM holdfast.line l WHERE l.q = q.q)
  FOR UPDATE SKIP LOCKED`;
const NOTE_NO_LINES = `
  UPDATE holdfast.queue q SET has_lines = false, has_ring = q.max_active_per_group IS NOT NULL
  WHERE q.q = ANY ($1) AND NOT EXISTS (SELECT 1 FROM holdfast.line l WHERE l.q = q.q)`;

export async function sweepLines(tx: Transaction): Promise<void> {
  await tx.rows(SWEEP_LINES, [tx.now]);
  const rows = await tx.rows(LOCK_QUEUES_WITHOUT_LINES);
  if (rows.length > 0) await tx.rows(NOTE_NO_LINES, [rows.map((row) => number(row, 0))]);
}
