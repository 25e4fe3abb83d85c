/**
 * Which finished jobs retention takes, inside the database: one statement for thousands of queues.
 * The counts of the queues say which of them have anything; only of those is the oldest job looked at.
 *
 * Of many queues and statuses with something to take, the `SHELVES_AT_ONCE` whose oldest finished first give
 * it: so a busy queue cannot keep the others from being pruned, and a call is bounded.
 */
const SHELVES_AT_ONCE = 20;
/** Queues looked at by one call; the next one goes on behind them. */
const QUEUES_AT_ONCE = 2_000;

export const FIND_VICTIMS = "SELECT * FROM holdfast.prune_victims($1, $2, $3, $4, $5, $6)";

export const PRUNE_FUNCTION = `
-- A policy is for one queue, or (p_queue null) for those that have none of their own for that status.
-- Age and number are judged by one snapshot: a count that is older than the list would take what another
-- prune has made room for.
CREATE OR REPLACE FUNCTION holdfast.prune_victims(p_after integer, p_limit integer,
  p_queue text[], p_status integer[], p_until bigint[], p_keep bigint[],
  OUT victims bigint[], OUT last_q integer)
LANGUAGE plpgsql
SET jit = off SET enable_bitmapscan = off
AS $$
DECLARE
  v_queues integer[] := ARRAY(SELECT x.q FROM holdfast.queue x WHERE x.q > p_after
    ORDER BY x.q LIMIT ${QUEUES_AT_ONCE});
BEGIN
  -- Null: there is no queue behind these.
  IF cardinality(v_queues) = ${QUEUES_AT_ONCE} THEN last_q := v_queues[${QUEUES_AT_ONCE}]; END IF;
  victims := ARRAY(
    WITH policy AS MATERIALIZED (
      SELECT * FROM unnest(p_queue, p_status, p_until, p_keep) AS p (queue, status, until, keep)),
    own AS MATERIALIZED (
      SELECT x.q, p.status, max(p.until) AS until, min(p.keep) AS keep
      FROM policy p JOIN holdfast.queue x ON x.name = p.queue GROUP BY x.q, p.status),
    common AS MATERIALIZED (
      SELECT p.status, max(p.until) AS until, min(p.keep) AS keep
      FROM policy p WHERE p.queue IS NULL GROUP BY p.status),
    counted AS MATERIALIZED (
      SELECT t.q, s.status, s.n FROM (
        SELECT q, sum(succeeded)::bigint AS succeeded, sum(dead)::bigint AS dead,
          sum(cancelled)::bigint AS cancelled
        FROM (SELECT q, succeeded, dead, cancelled FROM holdfast.tally
          WHERE q > p_after AND (last_q IS NULL OR q <= last_q) UNION ALL
          SELECT q, succeeded, dead, cancelled FROM holdfast.tally_late
          WHERE q > p_after AND (last_q IS NULL OR q <= last_q)) a GROUP BY q) t
      CROSS JOIN LATERAL (VALUES (1, t.succeeded), (2, t.dead), (3, t.cancelled)) AS s (status, n)
      WHERE s.n > 0),
    shelf AS MATERIALIZED (
      SELECT f.q, f.status, f.until, f.beyond, o.finished_at
      FROM (SELECT c.q, c.status, c.n, CASE WHEN w.q IS NULL THEN m.until ELSE w.until END AS until,
          greatest(0, c.n - CASE WHEN w.q IS NULL THEN m.keep ELSE w.keep END) AS beyond
        FROM counted c LEFT JOIN own w ON w.q = c.q AND w.status = c.status
        LEFT JOIN common m ON m.status = c.status) f
      CROSS JOIN LATERAL (SELECT d.finished_at FROM holdfast.done d
        WHERE d.q = f.q AND d.status = f.status
        ORDER BY d.q, d.status, d.finished_at, d.seq LIMIT 1) o
      WHERE (f.until IS NOT NULL OR f.beyond > 0) AND (o.finished_at <= f.until OR f.beyond > 0)
      ORDER BY o.finished_at LIMIT ${SHELVES_AT_ONCE}),
    past AS (
      SELECT d.finished_at, d.seq FROM shelf s CROSS JOIN LATERAL (
        SELECT x.finished_at, x.seq FROM (
          SELECT y.finished_at, y.seq, row_number() OVER () AS nth FROM (
            SELECT z.finished_at, z.seq FROM holdfast.done z
            WHERE z.q = s.q AND z.status = s.status
            ORDER BY z.q, z.status, z.finished_at, z.seq LIMIT p_limit) y) x
        WHERE x.finished_at <= s.until OR x.nth <= s.beyond) d)
    SELECT p.seq FROM past p ORDER BY p.finished_at, p.seq LIMIT p_limit);
END $$;
`;
