/**
 * Since when the longest waiting ready job of each queue waits, without an index that every insert would
 * pay for. A job that was due when it was created waits since then, and jobs are numbered in that order:
 * so of each line and priority the first such job is enough. The others, which were delayed or came back,
 * are in a small table of their own, by the time they were due (`due-jobs.ts`).
 *
 * It costs four searches a line that has ready jobs: some ten milliseconds with five thousand queues.
 *
 * Exact, but for two bounds: only the first `LINES_AT_MOST` lines that have several priorities, or some of
 * the others, are asked for more than their first job; and of each of their priorities only the first
 * `LOOK_AT_MOST` jobs.
 */
import type { Connection } from "./connection.ts";

const LOOK_AT_MOST = 100;
const LINES_AT_MOST = 1_000;

/** The first job of each line, if it was due when it was created: the first of all of its priority. */
const FIRST_OF_LINES = `
  SELECT f.q, f.seq, j.created_at FROM (
    SELECT n.q, min((
      SELECT iif(r.run_at IS NULL, r.seq, NULL) FROM holdfast_ready r
      WHERE r.line = n.line ORDER BY r.prio, r.seq LIMIT 1)) AS seq
    FROM holdfast_line n WHERE n.state <> 0 GROUP BY n.q) f
  CROSS JOIN holdfast_job j ON j.seq = f.seq`;
/** Lines of which that is not all: they have another priority, or one of the others. */
const LINES_WITH_PRIOS = `
  SELECT n.q, n.line FROM holdfast_line n
  WHERE n.state <> 0 AND EXISTS (
    SELECT 1 FROM holdfast_ready r WHERE r.line = n.line AND r.prio > (
      SELECT h.prio FROM holdfast_ready h WHERE h.line = n.line ORDER BY h.prio LIMIT 1))
  LIMIT ${LINES_AT_MOST}`;
const LINES_WITH_DUE = `
  WITH RECURSIVE has (line) AS (
    SELECT min(line) FROM holdfast_due
    UNION ALL
    SELECT (SELECT min(d.line) FROM holdfast_due d WHERE d.line > has.line)
    FROM has WHERE has.line IS NOT NULL)
  SELECT n.q, n.line, (
    SELECT d.run_at FROM holdfast_due d WHERE d.line = n.line ORDER BY d.run_at LIMIT 1)
  FROM has CROSS JOIN holdfast_line n ON n.line = has.line`;
const NEXT_PRIO = `
  SELECT prio FROM holdfast_ready WHERE line = ? AND prio > ? ORDER BY prio LIMIT 1`;
const FIRST_OF_PRIO = `
  SELECT seq FROM (
    SELECT seq, run_at FROM holdfast_ready WHERE line = ? AND prio = ?
    ORDER BY seq LIMIT ${LOOK_AT_MOST})
  WHERE run_at IS NULL ORDER BY seq LIMIT 1`;
const CREATED_AT = "SELECT created_at FROM holdfast_job WHERE seq = ?";

/** By the number of the queue. */
export function oldestReady(db: Connection): ReadonlyMap<number, number> {
  const since = new Map<number, number>();
  for (const [q, , at] of db.rows<[number, number, number]>(FIRST_OF_LINES).all()) {
    since.set(q, at);
  }
  const more = db.rows<[number, number]>(LINES_WITH_PRIOS).all();
  for (const [q, line, runAt] of db.rows<[number, number, number]>(LINES_WITH_DUE).all()) {
    keepEarlier(since, q, runAt);
    if (more.length < LINES_AT_MOST) more.push([q, line]);
  }
  for (const [q, line] of more) {
    const seq = firstOfLine(db, line);
    if (seq !== Infinity) keepEarlier(since, q, db.value(CREATED_AT, seq) as number);
  }
  return since;
}

/** Infinity: none of those looked at was due when it was created. */
function firstOfLine(db: Connection, line: number): number {
  const next = db.rows<[number]>(NEXT_PRIO);
  let first = Infinity;
  for (let prio = next.get(line, -1)?.[0]; prio !== undefined; prio = next.get(line, prio)?.[0]) {
    const seq = db.value(FIRST_OF_PRIO, line, prio) as number | undefined;
    first = Math.min(first, seq ?? Infinity);
  }
  return first;
}

function keepEarlier(since: Map<number, number>, q: number, at: number): void {
  since.set(q, Math.min(at, since.get(q) ?? Infinity));
}
