/**
 * Counts, from the numbers every move keeps (`tally.ts`); what runs now is counted, it is few. Delayed
 * jobs whose time has come but that no lease has moved yet are counted as the ready jobs they are.
 */
import { COUNTED_TO } from "../../core/line.ts";
import type { JobRef, QueueCounts } from "../../core/store.ts";
import { isUuid } from "../../core/uuid.ts";
import { clockMs, msOf, type Clock } from "./clock.ts";
import type { Asker } from "./queue-book.ts";
import { number, numberOrNull, text } from "./row-values.ts";

const NOW = clockMs("$1");

/** Ready jobs that are all looked at. Of more of them, only those that can be the oldest. */
const LOOK_AT_ALL = 100;
/** Lines and priorities whose first job is looked at. */
const LOOK_AT_HEADS = 200;

/**
 * Functions, for one reason: with a hundred queues this is thought expensive enough to be compiled,
 * which takes far longer than counting.
 *
 * The oldest ready job costs the fast path nothing: there is no index of all by their time. Those that
 * came later than they were created have one (`ready_late`). All others wait since they were created,
 * and inside a line and priority the first is the oldest. So the answer is exact for a queue with up to
 * ${LOOK_AT_ALL} ready jobs, or up to ${LOOK_AT_HEADS} lines and priorities; with more it may be a later one.
 */
export const COUNT_FUNCTION = `
CREATE OR REPLACE FUNCTION holdfast.oldest_ready(p_q integer, p_ready bigint) RETURNS bigint
LANGUAGE plpgsql STABLE
AS $$
BEGIN
  IF p_ready <= ${LOOK_AT_ALL} THEN
    RETURN (SELECT min(coalesce(r.run_at, j.created_at)) FROM (
        SELECT x.seq, x.run_at FROM holdfast.ready x WHERE x.q = p_q LIMIT ${2 * LOOK_AT_ALL}) r
      CROSS JOIN LATERAL (SELECT x.created_at FROM holdfast.job x WHERE x.seq = r.seq OFFSET 0) j);
  END IF;
  RETURN least((SELECT r.run_at FROM holdfast.ready r WHERE r.q = p_q AND r.run_at IS NOT NULL
      ORDER BY r.q, r.run_at LIMIT 1), (
    WITH RECURSIVE heads AS (
      (SELECT r.grp, r.prio, r.seq, r.run_at, 1 AS step FROM holdfast.ready r WHERE r.q = p_q
      ORDER BY r.q, r.grp, r.prio, r.seq LIMIT 1)
      UNION ALL
      SELECT n.*, h.step + 1 FROM heads h CROSS JOIN LATERAL (
        SELECT r.grp, r.prio, r.seq, r.run_at FROM holdfast.ready r
        WHERE r.q = p_q AND (r.grp, r.prio) > (h.grp, h.prio)
        ORDER BY r.q, r.grp, r.prio, r.seq LIMIT 1) n
      WHERE h.step < ${LOOK_AT_HEADS})
    SELECT min(coalesce(h.run_at, j.created_at)) FROM heads h
    CROSS JOIN LATERAL (SELECT x.created_at FROM holdfast.job x WHERE x.seq = h.seq OFFSET 0) j));
END $$;

CREATE OR REPLACE FUNCTION holdfast.count_queues(p_seen_ms bigint)
RETURNS TABLE (name text, ready numeric, delayed numeric, processing bigint, succeeded numeric,
  dead numeric, cancelled numeric, retrying bigint, oldest bigint, at bigint)
LANGUAGE plpgsql STABLE
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT q.name, coalesce(t.ready, 0) + d.due, coalesce(t.delayed, 0) - d.due,
    (SELECT count(*) FROM holdfast.leased l WHERE l.q = q.q),
    coalesce(t.succeeded, 0), coalesce(t.dead, 0), coalesce(t.cancelled, 0),
    least(${COUNTED_TO}, (SELECT count(*) FROM (SELECT FROM holdfast.ready r
        WHERE r.q = q.q AND r.attempts > 0 LIMIT ${COUNTED_TO}) x)
      + (SELECT count(*) FROM (SELECT FROM holdfast.delayed a
        WHERE a.q = q.q AND a.attempts > 0 LIMIT ${COUNTED_TO}) x)),
    least(CASE WHEN t.ready > 0 THEN holdfast.oldest_ready(q.q, t.ready::bigint) END,
      CASE WHEN d.due > 0 THEN (SELECT x.run_at FROM holdfast.delayed x WHERE x.q = q.q
        ORDER BY x.q, x.run_at LIMIT 1) END), n.at
  FROM (SELECT ${clockMs("p_seen_ms")} AS at OFFSET 0) n
  CROSS JOIN holdfast.queue q
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
const COUNTS = "SELECT * FROM holdfast.count_queues($1)";
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
  // What was shown as due stays due.
  const [first] = rows;
  if (first !== undefined) clock.saw(number(first, 9) * 1_000);
  return rows.map((row) => ({
    queue: text(row, 0),
    ready: number(row, 1),
    delayed: number(row, 2),
    processing: number(row, 3),
    succeeded: number(row, 4),
    dead: number(row, 5),
    cancelled: number(row, 6),
    retrying: number(row, 7),
    oldestReadyAt: numberOrNull(row, 8),
  }));
}

export async function place(db: Asker, { id }: JobRef, clock: Clock): Promise<number | null> {
  if (!isUuid(id)) return null;
  const [row] = await db.rows(PLACE, [msOf(clock.seen), id]);
  return row === undefined ? null : number(row, 0);
}
