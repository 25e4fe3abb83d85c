/**
 * The steps of a lease inside the database: due jobs come into their lines, the ring of lines is
 * walked, jobs become leases.
 *
 * A walk over the index of `ready` jumps from line to line, so a line of a million jobs costs one step
 * like a line of one.
 *
 * Those that only a lease calls are planned under its settings (`pinned.ts`) and need none of their own.
 */
import { holdMoved } from "./lease-one-line.ts";
import { PINNED } from "./pinned.ts";

/** How many held or full lines one walk passes by. The next call goes on behind them. */
const MOST_STEPS = 500;

const LONGEST_WAIT_MS = 20;

/** Of a line `l` of the walk: its own cap or the queue's default for lines. */
const CAP = "coalesce(l.max_active, p_per_group)";
/** 1 or 0. */
const IS_OPEN = `(coalesce(l.held_until, 0) <= p_now AND CASE WHEN ${CAP} IS NULL THEN true
      WHEN p_free THEN false ELSE ${CAP} > (
        SELECT count(*) FROM holdfast.leased x WHERE x.q = r.q AND x.grp = r.grp) END)::integer`;

export const WALK_FUNCTIONS = `
-- Lets due jobs into their lines, at most so many: a burst of a hundred thousand must not stall one
-- call. Their place was fixed at the insert.
CREATE OR REPLACE FUNCTION holdfast.move_due(p_q integer, p_now bigint, p_most integer)
RETURNS integer
LANGUAGE plpgsql
${PINNED}
AS $$
DECLARE
  v_moved integer;
BEGIN
  WITH moved AS (
    DELETE FROM holdfast.delayed d WHERE d.seq = ANY (ARRAY(
      SELECT x.seq FROM holdfast.delayed x WHERE x.q = p_q AND x.run_at <= p_now
      ORDER BY x.q, x.run_at, x.seq LIMIT p_most FOR UPDATE SKIP LOCKED))
    RETURNING d.*)
  INSERT INTO holdfast.ready (q, grp, prio, seq, fence, settled_fence, run_at, attempts,
    max_attempts, crashes, flags)
  SELECT m.q, m.grp, m.prio, m.seq, m.fence, m.settled_fence, m.run_at, m.attempts, m.max_attempts,
    m.crashes, m.flags
  FROM moved m;
  GET DIAGNOSTICS v_moved = ROW_COUNT;
  RETURN v_moved;
END $$;

-- Due jobs that somebody else is just moving are in no line that we can see: a lease that did not wait
-- for them would take a later job of their line. Not for long: whoever moves them may have been stopped
-- half way. Two who wait for each other give up like that too.
CREATE OR REPLACE FUNCTION holdfast.move_due_of_others(p_q integer, p_now bigint, p_most integer)
RETURNS integer
LANGUAGE plpgsql
SET lock_timeout = ${LONGEST_WAIT_MS}
AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM holdfast.delayed d WHERE d.q = p_q AND d.run_at <= p_now) THEN
    RETURN 0;
  END IF;
  PERFORM 1 FROM holdfast.delayed d WHERE d.q = p_q AND d.run_at <= p_now
  ORDER BY d.q, d.run_at, d.seq LIMIT p_most FOR UPDATE;
  RETURN holdfast.move_due(p_q, p_now, p_most);
EXCEPTION WHEN lock_not_available THEN
  RETURN 0;
END $$;

-- The lines with ready jobs from p_from on (and before p_until) that are neither held nor full; at
-- most p_want. p_is_plain: none of them has settings. p_free: only those without a cap. heads: their
-- first jobs. passed: where the next walk goes on, if this one ended early. Whether a line is full is
-- seen again by whoever takes from it, under its lock.
CREATE OR REPLACE FUNCTION holdfast.walk(p_q integer, p_from text, p_until text, p_want integer,
  p_is_plain boolean, p_now bigint, p_per_group bigint, p_free boolean,
  OUT groups text[], OUT heads tid[], OUT weights integer[], OUT caps bigint[], OUT passed text)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
BEGIN
  IF p_is_plain THEN
    WITH RECURSIVE walk AS (
      (SELECT r.grp, r.ctid AS head, 1 AS step FROM holdfast.ready r
      WHERE r.q = p_q AND r.grp >= p_from AND (p_until IS NULL OR r.grp < p_until)
      ORDER BY r.q, r.grp, r.prio, r.seq LIMIT 1)
      UNION ALL
      SELECT n.grp, n.head, w.step + 1
      FROM walk w CROSS JOIN LATERAL (
        SELECT r.grp, r.ctid AS head FROM holdfast.ready r
        WHERE r.q = p_q AND r.grp > w.grp AND (p_until IS NULL OR r.grp < p_until)
        ORDER BY r.q, r.grp, r.prio, r.seq LIMIT 1) n
      WHERE w.step < p_want)
    SELECT array_agg(w.grp), array_agg(w.head), array_agg(1), array_agg(NULL::bigint)
    INTO groups, heads, weights, caps FROM walk w;
    RETURN;
  END IF;
  WITH RECURSIVE walk AS (
    (SELECT r.grp, r.ctid AS head, 1 AS step, l.weight, ${CAP} AS cap, ${IS_OPEN} AS open
    FROM holdfast.ready r LEFT JOIN holdfast.line l ON l.q = r.q AND l.grp = r.grp
    WHERE r.q = p_q AND r.grp >= p_from AND (p_until IS NULL OR r.grp < p_until)
    ORDER BY r.q, r.grp, r.prio, r.seq LIMIT 1)
    UNION ALL
    SELECT n.grp, n.head, w.step + 1, n.weight, n.cap, w.open + n.open
    FROM walk w CROSS JOIN LATERAL (
      SELECT r.grp, r.ctid AS head, l.weight, ${CAP} AS cap, ${IS_OPEN} AS open
      FROM holdfast.ready r LEFT JOIN holdfast.line l ON l.q = r.q AND l.grp = r.grp
      WHERE r.q = p_q AND r.grp > w.grp AND (p_until IS NULL OR r.grp < p_until)
      ORDER BY r.q, r.grp, r.prio, r.seq LIMIT 1) n
    WHERE w.open < p_want AND w.step < ${MOST_STEPS}),
  seen AS (
    SELECT w.*, w.open - coalesce(lag(w.open) OVER (ORDER BY w.step), 0) AS is_open FROM walk w)
  SELECT array_agg(s.grp ORDER BY s.step) FILTER (WHERE s.is_open = 1),
    array_agg(s.head ORDER BY s.step) FILTER (WHERE s.is_open = 1),
    array_agg(coalesce(s.weight, 1) ORDER BY s.step) FILTER (WHERE s.is_open = 1),
    array_agg(s.cap ORDER BY s.step) FILTER (WHERE s.is_open = 1),
    CASE WHEN max(s.step) >= ${MOST_STEPS} THEN max(s.grp) END
  INTO groups, heads, weights, caps, passed FROM seen s;
END $$;

-- The first jobs of a line behind (p_prio, p_seq), and those of higher priority, locked; null if the
-- queue has other lines. Behind a snapshot that somebody holds open, what was leased stays in the index
-- for as long, and a line would be found by stepping over all of it. So the caller may say up to where
-- it has leased just now. What has come back into the line before that place, the caller finds by
-- asking without a hint again, soon.
CREATE OR REPLACE FUNCTION holdfast.pick_behind(p_q integer, p_grp text, p_prio integer,
  p_seq bigint, p_want integer) RETURNS tid[]
LANGUAGE plpgsql
AS $$
DECLARE
  v_heads tid[];
BEGIN
  IF EXISTS (SELECT 1 FROM holdfast.ready r WHERE r.q = p_q AND r.grp > p_grp)
    OR EXISTS (SELECT 1 FROM holdfast.ready r WHERE r.q = p_q AND r.grp < p_grp)
  THEN
    RETURN NULL;
  END IF;
  v_heads := ARRAY(SELECT r.ctid FROM holdfast.ready r
    WHERE r.q = p_q AND r.grp = p_grp AND r.prio < p_prio
    ORDER BY r.q, r.grp, r.prio, r.seq LIMIT p_want FOR UPDATE SKIP LOCKED);
  RETURN v_heads || ARRAY(SELECT r.ctid FROM holdfast.ready r
    WHERE r.q = p_q AND r.grp = p_grp AND (r.prio, r.seq) > (p_prio, p_seq)
    ORDER BY r.q, r.grp, r.prio, r.seq LIMIT p_want - cardinality(v_heads) FOR UPDATE SKIP LOCKED);
END $$;

-- Makes leases of ready jobs that the caller has locked.
CREATE OR REPLACE FUNCTION holdfast.start_attempts(p_heads tid[], p_worker text, p_us bigint,
  p_lease_ms bigint, OUT seqs bigint[], OUT groups text[])
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
BEGIN
  WITH moved AS (
    DELETE FROM holdfast.ready d WHERE d.ctid = ANY (p_heads) RETURNING d.*),
  held AS (
    ${holdMoved("p_us")} RETURNING seq, grp)
  SELECT coalesce(array_agg(h.seq), '{}'), coalesce(array_agg(h.grp), '{}')
  INTO seqs, groups FROM held h;
END $$;

-- What a job brings along from attempts before: only where flags say that there may be something.
CREATE OR REPLACE FUNCTION holdfast.past_of(p_seq bigint) RETURNS text
LANGUAGE plpgsql STABLE
AS $$
BEGIN
  RETURN (
    SELECT json_build_object('deferrals', t.deferrals, 'checkpoint', t.checkpoint, 'steps', (
      SELECT json_agg(json_build_object('name', s.name, 'value', s.value) ORDER BY s.n)
      FROM holdfast.step s WHERE s.seq = p_seq))::text
    FROM (SELECT 1) one LEFT JOIN holdfast.job_details t ON t.seq = p_seq);
END $$;
`;
