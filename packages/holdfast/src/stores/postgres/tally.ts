/**
 * The counts of the queues, kept by the transactions that move jobs. A row that every writer must
 * touch would let one write at a time; sixteen slots, chosen by connection, cost nothing measurable.
 * Every few seconds the writers turn to new slots: beside a snapshot that somebody holds open, every
 * version of a row stays, and a row with ten thousand versions takes a millisecond to change.
 *
 * Inside a caller's own transaction nothing of ours may be locked for long, so what it counts is
 * inserted as rows of its own (`tally_late`). `prune` folds both into few rows.
 */
import { PINNED } from "./pinned.ts";

/** How long writers stay in their slots. */
const SLOT_SECONDS = 8;
const AGE = `extract(epoch FROM clock_timestamp())::bigint / ${SLOT_SECONDS}`;
const SLOT = `pg_backend_pid() % 16 + 16 * (${AGE})`;

/** Slots that nobody has written to for a while, and all rows of callers' transactions. */
export const FOLD_TALLY = `
  WITH late AS (
    DELETE FROM holdfast.tally_late WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM holdfast.tally_late LIMIT 10000 FOR UPDATE SKIP LOCKED))
    RETURNING q, ready, delayed, succeeded, dead, cancelled),
  old AS (
    DELETE FROM holdfast.tally WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM holdfast.tally WHERE slot < 16 * (${AGE} - 4) LIMIT 10000
      FOR UPDATE SKIP LOCKED))
    RETURNING q, ready, delayed, succeeded, dead, cancelled),
  sums AS (
    SELECT q, sum(ready)::bigint AS ready, sum(delayed)::bigint AS delayed,
      sum(succeeded)::bigint AS succeeded, sum(dead)::bigint AS dead,
      sum(cancelled)::bigint AS cancelled
    FROM (SELECT * FROM late UNION ALL SELECT * FROM old) both_of_them GROUP BY q)
  SELECT holdfast.count_up(false, array_agg(q), array_agg(ready), array_agg(delayed),
    array_agg(succeeded), array_agg(dead), array_agg(cancelled)) FROM sums`;
export const IS_TALLY_LONG = `
  EXISTS (SELECT 1 FROM holdfast.tally_late)
    OR (SELECT count(*) FROM holdfast.tally) > 4 * (SELECT count(*) FROM holdfast.queue)`;

/** Of a queue `q`: it has or had jobs, settings or holds. */
export const IS_KNOWN = `(q.is_set OR EXISTS (SELECT 1 FROM holdfast.tally t WHERE t.q = q.q)
    OR EXISTS (SELECT 1 FROM holdfast.tally_late t WHERE t.q = q.q))`;

/**
 * Counts the rows of a query: q, ready, delayed, succeeded, dead, cancelled. Always in the order of
 * the queues, and always the last thing a transaction waits for.
 */
export function countUp(rows: string): string {
  return `INSERT INTO holdfast.tally AS t (q, slot, ready, delayed, succeeded, dead, cancelled)
    SELECT u.q, ${SLOT}, u.ready, u.delayed, u.succeeded, u.dead, u.cancelled
    FROM (${rows}) AS u (q, ready, delayed, succeeded, dead, cancelled) ORDER BY u.q
    ON CONFLICT (q, slot) DO UPDATE SET
      ready = t.ready + excluded.ready, delayed = t.delayed + excluded.delayed,
      succeeded = t.succeeded + excluded.succeeded, dead = t.dead + excluded.dead,
      cancelled = t.cancelled + excluded.cancelled`;
}

const COUNTED = `SELECT c.q, coalesce(c.ready, 0), coalesce(c.delayed, 0), coalesce(c.succeeded, 0),
      coalesce(c.dead, 0), coalesce(c.cancelled, 0)
    FROM unnest(p_q, p_ready, p_delayed, p_succeeded, p_dead, p_cancelled)
      AS c (q, ready, delayed, succeeded, dead, cancelled)`;

export const TALLY_FUNCTIONS = `
CREATE OR REPLACE FUNCTION holdfast.count_up(p_is_late boolean, p_q integer[], p_ready bigint[],
  p_delayed bigint[], p_succeeded bigint[], p_dead bigint[], p_cancelled bigint[])
RETURNS integer
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
BEGIN
  IF p_q IS NULL THEN RETURN 0; END IF;
  IF p_is_late THEN
    INSERT INTO holdfast.tally_late (q, ready, delayed, succeeded, dead, cancelled)
    ${COUNTED};
  ELSE
    ${countUp(COUNTED)};
  END IF;
  RETURN 0;
END $$;

-- What a job is now: 0 queued, 1 succeeded, 2 dead, 3 cancelled, 4 processing, null if it is gone.
CREATE OR REPLACE FUNCTION holdfast.status_of(p_id uuid) RETURNS integer
LANGUAGE plpgsql STABLE
${PINNED}
AS $$
BEGIN
  RETURN (
    SELECT coalesce(
      (SELECT d.status::integer FROM holdfast.done d WHERE d.seq = j.seq),
      (SELECT 4 FROM holdfast.leased l WHERE l.seq = j.seq),
      0)
    FROM holdfast.job j WHERE j.id = p_id);
END $$;
`;
