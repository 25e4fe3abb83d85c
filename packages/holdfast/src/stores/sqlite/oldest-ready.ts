/**
 * Since when the longest waiting ready job of each queue waits, without an index that every insert would
 * pay for. A job that was due when it was created waits since then, and jobs are numbered in that order:
 * so of each line and priority the first such job is enough. The others, which were delayed or came back,
 * are in a small table of their own, by the time they were due.
 *
 * Exact, unless one line has very many of those others in front: of each line and priority only the first
 * `LOOK_AT_MOST` jobs are asked whether they were due when they were created.
 */
import type { Connection } from "./connection.ts";

const LOOK_AT_MOST = 100;

/** The priorities of each line that may have ready jobs. */
const STANDS = `
  WITH RECURSIVE stand (q, line, prio) AS (
    SELECT n.q, n.line,
      (SELECT r.prio FROM holdfast_ready r WHERE r.line = n.line ORDER BY r.prio LIMIT 1)
    FROM holdfast_line n WHERE n.state <> 0
    UNION ALL
    SELECT s.q, s.line, (SELECT r.prio FROM holdfast_ready r
      WHERE r.line = s.line AND r.prio > s.prio ORDER BY r.prio LIMIT 1)
    FROM stand s WHERE s.prio IS NOT NULL)`;
const SINCE_CREATED = `
  ${STANDS}
  SELECT s.q, min(j.created_at) FROM stand s CROSS JOIN holdfast_job j ON j.seq = (
    SELECT f.seq FROM (
      SELECT r.seq, r.run_at FROM holdfast_ready r WHERE r.line = s.line AND r.prio = s.prio
      ORDER BY r.seq LIMIT ${LOOK_AT_MOST}) f
    WHERE f.run_at IS NULL ORDER BY f.seq LIMIT 1)
  WHERE s.prio IS NOT NULL GROUP BY s.q`;
const SINCE_DUE = `
  SELECT n.q, min((
    SELECT d.run_at FROM holdfast_due d WHERE d.line = n.line ORDER BY d.run_at LIMIT 1))
  FROM holdfast_line n WHERE n.state <> 0 GROUP BY n.q`;

/** By the number of the queue. */
export function oldestReady(db: Connection): ReadonlyMap<number, number> {
  const since = new Map<number, number>();
  for (const sql of [SINCE_CREATED, SINCE_DUE]) {
    for (const [q, at] of db.rows<[number, number | null]>(sql).all()) {
      if (at !== null) since.set(q, Math.min(at, since.get(q) ?? Infinity));
    }
  }
  return since;
}
