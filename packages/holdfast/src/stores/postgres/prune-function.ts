/**
 * Which finished jobs retention takes, inside the database: one statement however many queues there are.
 * The counts of the queues say which of them have anything; only of those is the oldest job looked at.
 *
 * Of many queues and statuses with something to take, the `SHELVES_AT_ONCE` whose oldest finished first give
 * it: so a busy queue cannot keep the others from being pruned, and a call is bounded.
 */
import { PINNED } from "./pinned.ts";

const SHELVES_AT_ONCE = 20;

export const FIND_VICTIMS = "SELECT holdfast.prune_victims($1, $2, $3, $4, $5)";

export const PRUNE_FUNCTION = `
-- A policy is for one queue, or (p_queue null) for those that have none of their own for that status.
-- Age and number are judged by one snapshot: a count that is older than the list would take what another
-- prune has made room for.
CREATE OR REPLACE FUNCTION holdfast.prune_victims(p_limit integer, p_queue text[],
  p_status integer[], p_until bigint[], p_keep bigint[]) RETURNS bigint[]
LANGUAGE plpgsql
${PINNED}
AS $$
BEGIN
  RETURN ARRAY(
    WITH policy AS MATERIALIZED (
      SELECT * FROM unnest(p_queue, p_status, p_until, p_keep) AS p (queue, status, until, keep)),
    counted AS MATERIALIZED (
      SELECT t.q, s.status, sum(CASE s.status WHEN 1 THEN t.succeeded WHEN 2 THEN t.dead
        ELSE t.cancelled END) AS n
      FROM (SELECT q, sum(succeeded) AS succeeded, sum(dead) AS dead, sum(cancelled) AS cancelled
        FROM (SELECT q, succeeded, dead, cancelled FROM holdfast.tally UNION ALL
          SELECT q, succeeded, dead, cancelled FROM holdfast.tally_late) a GROUP BY q) t
      CROSS JOIN (SELECT DISTINCT status FROM policy) s
      GROUP BY t.q, s.status),
    shelf AS MATERIALIZED (
      SELECT c.q, c.status, f.until, f.beyond, o.finished_at
      FROM (SELECT * FROM counted x WHERE x.n > 0) c
      CROSS JOIN LATERAL (SELECT x.name FROM holdfast.queue x WHERE x.q = c.q OFFSET 0) u
      CROSS JOIN LATERAL (
        SELECT max(p.until) AS until, greatest(0, c.n - min(p.keep)) AS beyond
        FROM policy p WHERE p.status = c.status AND (p.queue = u.name OR (p.queue IS NULL
          AND NOT EXISTS (SELECT FROM policy w WHERE w.queue = u.name AND w.status = c.status)))) f
      CROSS JOIN LATERAL (SELECT d.finished_at FROM holdfast.done d
        WHERE d.q = c.q AND d.status = c.status
        ORDER BY d.q, d.status, d.finished_at, d.seq LIMIT 1) o
      WHERE o.finished_at <= f.until OR f.beyond > 0
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
