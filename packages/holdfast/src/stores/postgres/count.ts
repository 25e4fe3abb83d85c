/**
 * Counts, from the numbers every move keeps (`tally.ts`); what runs now is counted, it is few. Delayed
 * jobs whose time has come but that no lease has moved yet are counted as the ready jobs they are.
 */
import { COUNTED_TO } from "../../core/line.ts";
import type { JobRef, QueueCounts } from "../../core/store.ts";
import { isUuid } from "../../core/uuid.ts";
import { msOf, type Clock } from "./clock.ts";
import type { Asker } from "./queue-book.ts";
import { number, text } from "./row-values.ts";

const NOW = "greatest(holdfast.clock_us() / 1000, $1)";
/**
 * A function for one reason: with a hundred queues this is thought expensive enough to be compiled,
 * which takes far longer than counting.
 */
export const COUNT_FUNCTION = `
CREATE OR REPLACE FUNCTION holdfast.count_jobs(p_seen_ms bigint)
RETURNS TABLE (name text, ready numeric, delayed numeric, processing bigint, succeeded numeric,
  dead numeric, cancelled numeric)
LANGUAGE plpgsql STABLE
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT q.name, coalesce(t.ready, 0) + d.due, coalesce(t.delayed, 0) - d.due,
    (SELECT count(*) FROM holdfast.leased l WHERE l.q = q.q),
    coalesce(t.succeeded, 0), coalesce(t.dead, 0), coalesce(t.cancelled, 0)
  FROM (SELECT greatest(holdfast.clock_us() / 1000, p_seen_ms) AS at OFFSET 0) n CROSS JOIN holdfast.queue q
  LEFT JOIN (
    SELECT q, sum(ready) AS ready, sum(delayed) AS delayed, sum(succeeded) AS succeeded,
      sum(dead) AS dead, sum(cancelled) AS cancelled
    FROM (
      SELECT q, ready, delayed, succeeded, dead, cancelled FROM holdfast.tally UNION ALL
      SELECT q, ready, delayed, succeeded, dead, cancelled FROM holdfast.tally_late) s
    GROUP BY q) t ON t.q = q.q
  CROSS JOIN LATERAL (
    SELECT count(*) AS due FROM holdfast.delayed x WHERE x.q = q.q AND x.run_at <= n.at) d
  WHERE q.is_set OR t.q IS NOT NULL
  ORDER BY q.name;
END $$;
`;
const COUNTS = "SELECT * FROM holdfast.count_jobs($1)";
/** Where a ready job stands, moved into its line already or not, and how many are before it. */
const PLACE = `
  SELECT least(${COUNTED_TO},
    (SELECT count(*) FROM (SELECT 1 FROM holdfast.ready r
      WHERE r.q = j.q AND r.grp = j.grp AND (r.prio, r.seq) < (j.prio, j.seq)
      LIMIT ${COUNTED_TO}) before) +
    (SELECT count(*) FROM (SELECT 1 FROM holdfast.delayed a
      WHERE a.q = j.q AND a.run_at <= n.at AND a.grp = j.grp AND (a.prio, a.seq) < (j.prio, j.seq)
      LIMIT ${COUNTED_TO}) due))
  FROM (SELECT ${NOW} AS at OFFSET 0) n CROSS JOIN holdfast.job j
  WHERE j.id = $2 AND (
    EXISTS (SELECT 1 FROM holdfast.delayed a WHERE a.seq = j.seq AND a.run_at <= n.at)
    OR EXISTS (SELECT 1 FROM holdfast.ready r
      WHERE r.q = j.q AND r.grp = j.grp AND r.prio = j.prio AND r.seq = j.seq))`;

export async function count(db: Asker, clock: Clock): Promise<QueueCounts[]> {
  const rows = await db.rows(COUNTS, [msOf(clock.seen)]);
  return rows.map((row) => ({
    queue: text(row, 0),
    ready: number(row, 1),
    delayed: number(row, 2),
    processing: number(row, 3),
    succeeded: number(row, 4),
    dead: number(row, 5),
    cancelled: number(row, 6),
  }));
}

export async function place(db: Asker, { id }: JobRef, clock: Clock): Promise<number | null> {
  if (!isUuid(id)) return null;
  const [row] = await db.rows(PLACE, [msOf(clock.seen), id]);
  return row === undefined ? null : number(row, 0);
}
