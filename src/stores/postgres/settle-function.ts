/**
 * What nearly every settle is, inside the database: a success at the first attempt that says nothing
 * more. One round trip for a whole batch, under the fence, and whatever is not so plain is left
 * alone for the long way (`settle.ts`).
 *
 * A null array of results, drops or discards says that nobody has one. Answers which items were
 * settled here (null: all of them) and which queues may have got room under a cap.
 */
import { CLOCK_US, PINNED } from "./pinned.ts";
import { countUp } from "./tally.ts";

/** Of the queues of `v_queues`, in which each stands once for every job that ended. */
const ENDED = `SELECT e.q, 0, 0, count(*), 0, 0 FROM unnest(v_queues) AS e (q) GROUP BY e.q`;

export const SETTLE_FUNCTION = `
CREATE OR REPLACE FUNCTION holdfast.settle_plain(
  p_seen bigint, p_is_late boolean, p_remembers_ms bigint,
  p_seq bigint[], p_fence bigint[], p_result text[], p_dropped boolean[], p_discard boolean[],
  OUT now_us bigint, OUT settled integer[], OUT capped integer[])
LANGUAGE plpgsql
${PINNED}
AS $$
#variable_conflict use_column
DECLARE
  v_now bigint;
  v_queues integer[];
  v_discarded bigint[];
  v_fences bigint[];
  v_keyed bigint[];
BEGIN
  now_us := ${CLOCK_US};
  v_now := now_us / 1000;
  WITH ended AS (
    DELETE FROM holdfast.leased l
    USING unnest(p_seq, p_fence, p_result, p_dropped, p_discard)
      WITH ORDINALITY AS u (seq, fence, result, dropped, discard, ord)
    WHERE l.seq = u.seq AND l.fence = u.fence AND l.attempts = 1 AND l.flags & 1 = 0
      AND NOT l.cancel_asked
    RETURNING l.q, l.seq, l.fence, l.run_at, l.leased_at, l.max_attempts, l.crashes, l.flags,
      l.worker, u.result, u.dropped, u.discard, u.ord),
  kept AS (
    INSERT INTO holdfast.done (q, status, result_dropped, seq, finished_at, fence, settled_fence,
      run_at, started_at, attempts, max_attempts, crashes, flags, worker, result)
    SELECT e.q, 1, e.dropped IS TRUE, e.seq, v_now, e.fence, e.fence, e.run_at, e.leased_at, 1,
      e.max_attempts, e.crashes, e.flags, e.worker, e.result
    FROM ended e WHERE e.discard IS NOT TRUE)
  SELECT array_agg(e.ord), array_agg(e.q), array_agg(e.seq) FILTER (WHERE e.flags & 2 = 2),
    array_agg(e.seq) FILTER (WHERE e.discard), array_agg(e.fence) FILTER (WHERE e.discard),
    array_agg(e.q) FILTER (WHERE e.discard IS NOT TRUE)
  INTO settled, capped, v_keyed, v_discarded, v_fences, v_queues FROM ended e;
  IF settled IS NULL THEN
    settled := '{}';
    RETURN;
  END IF;
  IF cardinality(settled) = cardinality(p_seq) THEN settled := NULL; END IF;

  -- A key until finished is free from now on.
  IF v_keyed IS NOT NULL THEN
    DELETE FROM holdfast.key k USING holdfast.job j
    WHERE j.seq = ANY (v_keyed) AND j.key_life = -2 AND k.q = j.q AND k.key = j.key AND k.id = j.id;
  END IF;
  IF v_discarded IS NOT NULL THEN
    PERFORM holdfast.bury(v_now, p_remembers_ms, v_discarded, v_fences, NULL);
  END IF;
  capped := (SELECT array_agg(x.q) FROM holdfast.queue x WHERE x.q = ANY (capped) AND x.has_caps);
  IF p_is_late THEN
    PERFORM holdfast.count_up(true, array_agg(c.q), NULL, NULL, array_agg(c.n), NULL, NULL)
    FROM (${ENDED}) AS c (q, ready, delayed, n);
  ELSE
    ${countUp(ENDED)};
  END IF;
END $$;
`;
