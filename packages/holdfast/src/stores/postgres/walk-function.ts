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

const LONGEST_WAIT_MS = 20;

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
  v_groups text[];
BEGIN
  WITH moved AS (
    DELETE FROM holdfast.delayed d WHERE d.seq = ANY (ARRAY(
      SELECT x.seq FROM holdfast.delayed x WHERE x.q = p_q AND x.run_at <= p_now
      ORDER BY x.q, x.run_at, x.seq LIMIT p_most FOR UPDATE SKIP LOCKED))
    RETURNING d.*),
  placed AS (
    INSERT INTO holdfast.ready (q, grp, prio, seq, fence, settled_fence, run_at, attempts,
      max_attempts, crashes, flags)
    SELECT m.q, m.grp, m.prio, m.seq, m.fence, m.settled_fence, m.run_at, m.attempts,
      m.max_attempts, m.crashes, m.flags
    FROM moved m RETURNING grp)
  SELECT count(*), array_agg(p.grp) INTO v_moved, v_groups FROM placed p;
  IF v_moved > 0 AND (SELECT x.has_ring FROM holdfast.queue x WHERE x.q = p_q) THEN
    PERFORM holdfast.open_lines(array_fill(p_q, ARRAY[v_moved]), v_groups);
  END IF;
  RETURN v_moved;
END $$;

-- The same for all queues, the longest due first: for those that no worker asks for.
CREATE OR REPLACE FUNCTION holdfast.move_all_due(p_now bigint, p_most integer) RETURNS integer
LANGUAGE plpgsql
${PINNED}
AS $$
DECLARE
  v_queues integer[];
  v_groups text[];
BEGIN
  WITH moved AS (
    DELETE FROM holdfast.delayed d WHERE d.seq = ANY (ARRAY(
      SELECT x.seq FROM holdfast.delayed x WHERE x.run_at <= p_now
      ORDER BY x.run_at, x.seq LIMIT p_most FOR UPDATE SKIP LOCKED))
    RETURNING d.*),
  placed AS (
    INSERT INTO holdfast.ready (q, grp, prio, seq, fence, settled_fence, run_at, attempts,
      max_attempts, crashes, flags)
    SELECT m.q, m.grp, m.prio, m.seq, m.fence, m.settled_fence, m.run_at, m.attempts,
      m.max_attempts, m.crashes, m.flags
    FROM moved m RETURNING q, grp)
  SELECT array_agg(p.q), array_agg(p.grp) INTO v_queues, v_groups FROM placed p;
  IF v_queues IS NULL THEN RETURN 0; END IF;
  PERFORM holdfast.open_lines(v_queues, v_groups);
  PERFORM holdfast.count_up(false, array_agg(c.q), array_agg(c.n), array_agg(-c.n), NULL, NULL, NULL)
  FROM (SELECT u.q, count(*) AS n FROM unnest(v_queues) AS u (q) GROUP BY u.q) c;
  RETURN cardinality(v_queues);
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

-- The lines with ready jobs from p_from on (and before p_until), at most p_want, in a queue that has no
-- ring (\`line-ring.ts\`): none of them is held or has a cap. Answers like \`walk_ring\`.
DROP FUNCTION IF EXISTS holdfast.walk(integer, text, text, integer, boolean, bigint, bigint, boolean);
CREATE OR REPLACE FUNCTION holdfast.walk_lines(p_q integer, p_from text, p_until text,
  p_want integer,
  OUT groups text[], OUT heads tid[], OUT weights integer[], OUT caps bigint[], OUT passed text,
  OUT closed text[])
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
BEGIN
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
