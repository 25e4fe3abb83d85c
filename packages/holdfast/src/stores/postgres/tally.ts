/**
 * The counts of the queues, kept by the transactions that move jobs. A row that every writer must
 * touch would let one write at a time; sixteen slots, chosen by connection, cost nothing measurable.
 * Every few seconds the writers turn to new slots: beside a snapshot that somebody holds open, every
 * version of a row stays, and a row with ten thousand versions takes a millisecond to change.
 *
 * Inside a caller's own transaction nothing of ours may be locked for long, so what it counts is
 * inserted as rows of its own (`tally_late`). Both are folded into one row a queue, every second, and so are
 * the notes of jobs that died (`count-dead.ts`).
 */
import { PINNED } from "./pinned.ts";

/** How long writers stay in their slots. */
const SLOT_MS = 8_000;
const AGE = `holdfast.clock_us() / ${SLOT_MS * 1_000}`;
/** Never 0: that is the slot of what is folded. */
const SLOT = `pg_backend_pid() % 16 + 16 * (${AGE} + 1)`;
/** Folded per call, of each table. Every process folds once a second, so it is ahead of the writers. */
const FOLD_AT_MOST = 10_000;
const FORGET_AT_MOST = 1_000;

/** Is there anything to fold? */
export const IS_TALLY_LONG = `(EXISTS (SELECT FROM holdfast.tally_late)
    OR EXISTS (SELECT FROM holdfast.dead_late)
    OR (SELECT t.slot FROM holdfast.tally t WHERE t.slot > 0 ORDER BY t.slot LIMIT 1)
      < 16 * (${AGE} - 3))`;
export const FOLD_TALLY = "SELECT holdfast.fold_tally()";

const FOLD_FUNCTION = `
-- Slots that no transaction has written to for a while, and all rows of callers' transactions, into one
-- row a queue. Slots are numbered by time, so the highest tells when the queue was last used.
CREATE OR REPLACE FUNCTION holdfast.fold_tally() RETURNS integer
LANGUAGE plpgsql
${PINNED}
AS $$
#variable_conflict use_column
DECLARE
  v_slot bigint := 16 * (${AGE} + 1);
BEGIN
  WITH late AS (
    DELETE FROM holdfast.tally_late WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM holdfast.tally_late LIMIT ${FOLD_AT_MOST} FOR UPDATE SKIP LOCKED))
    RETURNING q, v_slot AS slot, ready, delayed, succeeded, dead, cancelled),
  old AS (
    DELETE FROM holdfast.tally WHERE ctid = ANY (ARRAY(
      SELECT t.ctid FROM holdfast.tally t WHERE t.slot > 0 AND t.slot < 16 * (${AGE} - 3)
      ORDER BY t.slot LIMIT ${FOLD_AT_MOST} FOR UPDATE SKIP LOCKED))
    RETURNING q, slot, ready, delayed, succeeded, dead, cancelled),
  sums AS (
    SELECT q, max(slot) / 16 * ${SLOT_MS} AS used_at, sum(ready) AS ready, sum(delayed) AS delayed,
      sum(succeeded) AS succeeded, sum(dead) AS dead, sum(cancelled) AS cancelled
    FROM (SELECT * FROM late UNION ALL SELECT * FROM old) both_of_them GROUP BY q)
  INSERT INTO holdfast.tally AS t (q, slot, ready, delayed, succeeded, dead, cancelled, used_at)
  SELECT s.q, 0, s.ready, s.delayed, s.succeeded, s.dead, s.cancelled, s.used_at
  FROM sums s ORDER BY s.q
  ON CONFLICT (q, slot) DO UPDATE SET
    ready = t.ready + excluded.ready, delayed = t.delayed + excluded.delayed,
    succeeded = t.succeeded + excluded.succeeded, dead = t.dead + excluded.dead,
    cancelled = t.cancelled + excluded.cancelled,
    used_at = greatest(t.used_at, excluded.used_at);
  PERFORM holdfast.fold_dead();
  RETURN 0;
END $$;
`;

/**
 * Forgets queues without jobs that were not used for an hour. Their numbers stay theirs: any process may
 * still know them by it. A queue with settings or holds is known by those.
 */
export const FORGET_QUEUES = `
  DELETE FROM holdfast.tally t WHERE t.ctid = ANY (ARRAY(
    SELECT x.ctid FROM holdfast.tally x
    WHERE x.slot = 0 AND x.ready = 0 AND x.delayed = 0 AND x.succeeded = 0 AND x.dead = 0
      AND x.cancelled = 0 AND x.used_at <= $1
      AND NOT EXISTS (SELECT 1 FROM holdfast.tally o WHERE o.q = x.q AND o.slot > 0)
      AND NOT EXISTS (SELECT 1 FROM holdfast.tally_late o WHERE o.q = x.q)
      AND NOT EXISTS (SELECT 1 FROM holdfast.leased l WHERE l.q = x.q)
      AND NOT EXISTS (SELECT 1 FROM holdfast.key k WHERE k.q = x.q)
    ORDER BY x.used_at LIMIT ${FORGET_AT_MOST} FOR UPDATE SKIP LOCKED))`;
export const FORGET_SETTINGS = `
  UPDATE holdfast.queue q SET is_set = false WHERE q.ctid = ANY (ARRAY(
    SELECT x.ctid FROM holdfast.queue x
    WHERE x.is_set AND x.set_at <= $1 AND x.max_active IS NULL AND x.max_active_per_group IS NULL
      AND x.max_waiting IS NULL AND NOT x.has_lines AND x.held_until <= $2
      AND NOT EXISTS (SELECT 1 FROM holdfast.hold h WHERE h.q = x.q)
    LIMIT ${FORGET_AT_MOST} FOR UPDATE SKIP LOCKED))`;

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

export const TALLY_FUNCTIONS = `${FOLD_FUNCTION}
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
