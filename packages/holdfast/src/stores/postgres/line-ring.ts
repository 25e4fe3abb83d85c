/**
 * The ring of open lines, inside the database. A queue in which lines may be held or full has one
 * (`has_ring`): a row in `open_line` for every line that may be leased from. So a lease never passes
 * ten thousand lines that are closed, and an insert or a settle touches only its own line.
 *
 *     no row ──a job becomes ready, a lease ends, a hold ends, a cap is raised──▶ row
 *     row ──a walk finds the line empty, held or full──▶ no row
 *
 * A row too many costs a step of one walk. A row too few would keep jobs waiting, so this is the
 * protocol. A transaction that opens a line looks for its row and locks it (`FOR KEY SHARE`), or adds
 * one. A lease that closes a line locks the row first (`FOR UPDATE`) and looks at the line again in a
 * new statement. Neither waits: a closing lease passes a row by that another transaction has locked, and
 * an opening transaction adds a second row, which is why there is no unique index. So either the
 * closing lease sees what the other has committed, or the other's row stays.
 *
 * Rows of `ready` that were added without this, before the queue had a ring, are found by a pass over all
 * lines that makes it. What a transaction adds that was open at that moment is not seen by that pass, and
 * the transaction does not know of the ring: so a lease says when the next pass is due, until one has
 * begun after all of those had ended. The same after the first cap, and after another default: a settle
 * or a lease that began before goes by what was so then. From there on nothing is missing, and a pass
 * once a minute only makes sure.
 */
import { FOREVER } from "./clock.ts";
import { eachOf, PINNED } from "./pinned.ts";

/** How many closed lines one walk passes by. The next call goes on behind them. */
const MOST_STEPS = 500;
/** Lines whose holds have ended, opened by one call. */
const REOPEN_AT_MOST = 200;
/** Lines that one step of a pass looks at, and the time between two passes while a line may be missing. */
const LINES_A_STEP = 500;
const FIRST_WAIT_MS = 2_000;
const LONGEST_UNSURE_MS = 10_000;
/** `ring_wait_ms` of a ring that nothing is missing from. */
export const LONGEST_WAIT_MS = 60_000;
/** The same while the pass is under way that makes it so. 0: the one that makes the ring. */
export const SURE_AFTER_THIS_MS = 1;
/** Held lines looked at for a ready job. Behind them the end of the last one is answered, which is early. */
const LOOK_AT_HELD = 100;

const ACTIVE = (line: string): string =>
  `(SELECT count(*) FROM holdfast.leased x WHERE x.q = p_q AND x.grp = ${line}.grp)`;

/** The next lines of the ring with all that a lease asks of them. `rows`: which are looked at. */
function page(rows: string): string {
  return `SELECT array_agg(s.grp) FILTER (WHERE s.open) AS groups,
        array_agg(s.head) FILTER (WHERE s.open) AS heads,
        array_agg(s.weight) FILTER (WHERE s.open) AS weights,
        array_agg(s.cap) FILTER (WHERE s.open) AS caps,
        array_agg(s.grp) FILTER (WHERE NOT s.open AND NOT (p_free AND s.cap IS NOT NULL)) AS closed,
        count(*) AS n, max(s.grp) AS last
      INTO v_page
      FROM (SELECT o.grp, h.head, coalesce(l.weight, 1) AS weight, c.cap,
          h.head IS NOT NULL AND coalesce(l.held_until, 0) <= p_now AND CASE
            WHEN c.cap IS NULL THEN true WHEN p_free THEN false ELSE c.cap > ${ACTIVE("o")} END AS open
        FROM (SELECT DISTINCT ON (x.q, x.grp) x.grp FROM holdfast.open_line x
          WHERE x.q = p_q AND x.grp >= v_from ${rows} AND (p_until IS NULL OR x.grp < p_until)
          ORDER BY x.q, x.grp LIMIT v_size) o
        LEFT JOIN LATERAL (SELECT r.ctid AS head FROM holdfast.ready r
          WHERE r.q = p_q AND r.grp = o.grp ORDER BY r.q, r.grp, r.prio, r.seq LIMIT 1) h ON true
        LEFT JOIN LATERAL (SELECT y.* FROM holdfast.line y
          WHERE y.q = p_q AND y.grp = o.grp OFFSET 0) l ON true
        CROSS JOIN LATERAL (SELECT coalesce(l.max_active, p_per_group) AS cap) c OFFSET 0) s`;
}

export const RING_FUNCTIONS = `
CREATE OR REPLACE FUNCTION holdfast.open_lines(p_q integer[], p_grp text[]) RETURNS integer
LANGUAGE plpgsql
${PINNED}
AS $$
BEGIN
  IF p_q IS NULL THEN RETURN 0; END IF;
  INSERT INTO holdfast.open_line (q, grp, is_capped)
  SELECT u.q, u.grp, coalesce((SELECT l.max_active IS NOT NULL FROM holdfast.line l
    WHERE l.q = u.q AND l.grp = u.grp), false)
  FROM (SELECT DISTINCT a.q, a.grp FROM unnest(p_q, p_grp) AS a (q, grp)) u
  WHERE (SELECT x.has_ring FROM holdfast.queue x WHERE x.q = u.q)
    AND NOT EXISTS (SELECT FROM holdfast.open_line o WHERE o.q = u.q AND o.grp = u.grp
      LIMIT 1 FOR KEY SHARE SKIP LOCKED);
  RETURN 0;
END $$;

-- Takes lines out of the ring that are empty, held or full. is_shut: a hold did it, and its end brings
-- the line back.
CREATE OR REPLACE FUNCTION holdfast.close_lines(p_q integer, p_groups text[], p_now bigint)
RETURNS integer
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
  v_places tid[];
BEGIN
  v_places := ARRAY(SELECT h.place FROM unnest(p_groups) AS u (grp)
    ${eachOf(`SELECT x.ctid AS place FROM holdfast.open_line x
      WHERE x.q = p_q AND x.grp = u.grp FOR UPDATE SKIP LOCKED`)} AS h);
  IF cardinality(v_places) = 0 THEN RETURN 0; END IF;
  UPDATE holdfast.line l SET is_shut = true WHERE l.ctid = ANY (ARRAY(
    SELECT h.place FROM unnest(p_groups) AS u (grp)
    ${eachOf(`SELECT x.ctid AS place FROM holdfast.line x WHERE x.q = p_q AND x.grp = u.grp
      AND x.held_until > p_now AND NOT x.is_shut FOR UPDATE SKIP LOCKED`)} AS h));
  DELETE FROM holdfast.open_line o WHERE o.ctid = ANY (v_places) AND (
    NOT EXISTS (SELECT FROM holdfast.ready r WHERE r.q = o.q AND r.grp = o.grp)
    OR EXISTS (SELECT FROM holdfast.line l
      WHERE l.q = o.q AND l.grp = o.grp AND l.held_until > p_now AND l.is_shut)
    OR ${ACTIVE("o")} >= coalesce(
      (SELECT l.max_active FROM holdfast.line l WHERE l.q = o.q AND l.grp = o.grp),
      (SELECT x.max_active_per_group FROM holdfast.queue x WHERE x.q = o.q)));
  RETURN 0;
END $$;

-- Brings lines back whose holds have ended. Answers whether there may be more of them.
CREATE OR REPLACE FUNCTION holdfast.reopen_lines(p_q integer, p_now bigint) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
  v_groups text[];
BEGIN
  v_groups := ARRAY(SELECT l.grp FROM holdfast.line l
    WHERE l.q = p_q AND l.is_shut AND l.held_until <= p_now
    ORDER BY l.q, l.held_until LIMIT ${REOPEN_AT_MOST} FOR UPDATE SKIP LOCKED);
  IF cardinality(v_groups) > 0 THEN
    PERFORM holdfast.open_lines(array_fill(p_q, ARRAY[cardinality(v_groups)]), v_groups);
    UPDATE holdfast.line l SET is_shut = false WHERE l.q = p_q AND l.grp = ANY (v_groups);
  END IF;
  RETURN EXISTS (SELECT FROM holdfast.line l
    WHERE l.q = p_q AND l.is_shut AND l.held_until <= p_now);
END $$;

-- Is a transaction at work here that began so long ago? Every insert has locked one of these tables before
-- it looks whether there is a ring, and every settle and lease before it looks for caps. One whose
-- beginning we may not see counts.
CREATE OR REPLACE FUNCTION holdfast.has_elders(p_ms bigint) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
  RETURN EXISTS (SELECT FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.relation IN ('holdfast.gone'::regclass, 'holdfast.ready'::regclass,
        'holdfast.leased'::regclass)
      AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
      AND l.mode IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
      AND l.pid IS DISTINCT FROM pg_backend_pid()
      AND (a.xact_start > clock_timestamp() - p_ms * interval '1 millisecond') IS NOT TRUE);
END $$;

-- One step of a pass over all lines that have ready jobs: those that are not in the ring and not closed
-- are added. The first pass after a change (ring_wait_ms = 0) makes the ring.
CREATE OR REPLACE FUNCTION holdfast.tend_ring(p_q integer, p_now bigint) RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
  v_queue record;
  v_wait bigint;
  v_groups text[];
  v_missing text[];
BEGIN
  SELECT x.ring_from, x.ring_wait_ms, x.max_active_per_group INTO v_queue FROM holdfast.queue x
  WHERE x.q = p_q AND x.has_ring AND (x.ring_from IS NOT NULL OR x.ring_due_at <= p_now)
  FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN 0; END IF;
  v_wait := v_queue.ring_wait_ms;
  -- A pass begins: the look comes before it.
  IF coalesce(v_queue.ring_from, '') = '' AND v_wait < ${LONGEST_WAIT_MS}
    AND NOT holdfast.has_elders(v_wait)
  THEN
    v_wait := ${SURE_AFTER_THIS_MS};
  END IF;
  v_groups := (holdfast.walk_lines(p_q, coalesce(v_queue.ring_from, ''), NULL,
    ${LINES_A_STEP})).groups;
  v_missing := ARRAY(SELECT u.grp FROM unnest(v_groups) AS u (grp)
    LEFT JOIN LATERAL (SELECT * FROM holdfast.line s
      WHERE s.q = p_q AND s.grp = u.grp OFFSET 0) l ON true
    WHERE NOT EXISTS (SELECT FROM holdfast.open_line o WHERE o.q = p_q AND o.grp = u.grp)
      AND NOT (coalesce(l.is_shut, false) AND l.held_until > p_now)
      AND coalesce(coalesce(l.max_active, v_queue.max_active_per_group) > ${ACTIVE("u")}, true));
  IF cardinality(v_missing) > 0 THEN
    PERFORM holdfast.open_lines(array_fill(p_q, ARRAY[cardinality(v_missing)]), v_missing);
  END IF;
  IF coalesce(cardinality(v_groups), 0) < ${LINES_A_STEP} THEN
    v_wait := CASE WHEN v_wait IN (${SURE_AFTER_THIS_MS}, ${LONGEST_WAIT_MS}) THEN ${LONGEST_WAIT_MS}
      ELSE least(${LONGEST_UNSURE_MS}, greatest(${FIRST_WAIT_MS}, 4 * v_wait)) END;
    UPDATE holdfast.queue x SET ring_from = NULL, ring_wait_ms = v_wait, ring_due_at = p_now + v_wait
    WHERE x.q = p_q;
  ELSE
    UPDATE holdfast.queue x SET ring_from = v_groups[${LINES_A_STEP}] || chr(1), ring_wait_ms = v_wait
    WHERE x.q = p_q;
  END IF;
  RETURN 0;
END $$;

-- The open lines from p_from on (and before p_until), at most p_want. p_free: only those without a cap.
-- heads: their first jobs. passed: where the next walk goes on, if this one ended early. closed: lines
-- of the ring that are not open after all. Whether a line is full is seen again by the lease that takes
-- from it, under its lock.
CREATE OR REPLACE FUNCTION holdfast.walk_ring(p_q integer, p_from text, p_until text, p_want integer,
  p_now bigint, p_per_group bigint, p_free boolean,
  OUT groups text[], OUT heads tid[], OUT weights integer[], OUT caps bigint[], OUT passed text,
  OUT closed text[])
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
  v_from text := p_from;
  v_size integer := p_want;
  v_steps integer := 0;
  v_page record;
BEGIN
  LOOP
    IF p_free THEN
      ${page("AND NOT x.is_capped")};
    ELSE
      ${page("")};
    END IF;
    groups := groups || v_page.groups;
    heads := heads || v_page.heads;
    weights := weights || v_page.weights;
    caps := caps || v_page.caps;
    closed := closed || v_page.closed;
    v_steps := v_steps + v_page.n;
    EXIT WHEN v_page.n < v_size OR cardinality(groups) >= p_want;
    -- It has passed some by: the next page is larger, so that many of them are few pages.
    v_size := least(2 * v_size + 8, ${MOST_STEPS} - v_steps);
    IF v_size <= 0 THEN
      passed := v_page.last;
      EXIT;
    END IF;
    v_from := v_page.last || chr(1);
  END LOOP;
  IF cardinality(groups) > p_want THEN
    groups := groups[1:p_want];
    heads := heads[1:p_want];
    weights := weights[1:p_want];
    caps := caps[1:p_want];
  END IF;
END $$;

-- When the first hold ends of a line that has ready jobs. p_free: of those without a cap.
CREATE OR REPLACE FUNCTION holdfast.first_hold_end(p_q integer, p_now bigint, p_free boolean)
RETURNS bigint
LANGUAGE plpgsql STABLE
AS $$
BEGIN
  RETURN (SELECT min(h.held_until) FROM (
    SELECT l.held_until, l.grp, row_number() OVER () AS n FROM (
      SELECT x.held_until, x.grp FROM holdfast.line x
      WHERE x.q = p_q AND x.held_until > 0 AND x.held_until > p_now AND x.held_until < ${FOREVER}
        AND NOT (p_free AND x.max_active IS NOT NULL)
      ORDER BY x.q, x.held_until LIMIT ${LOOK_AT_HELD}) l) h
    WHERE h.n = ${LOOK_AT_HELD} OR (
      SELECT true FROM holdfast.ready r WHERE r.q = p_q AND r.grp = h.grp LIMIT 1));
END $$;
`;
