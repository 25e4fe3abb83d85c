/**
 * What nearly every settle is, inside the database: a success at the first attempt that says nothing
 * more. One round trip for a whole batch, under the fence, and whatever is not so plain is left
 * alone for the long way (`settle.ts`).
 *
 * A null array of results, drops or discards says that nobody has one. Answers which items were
 * settled here (null: all of them) and which queues may have got room under a cap.
 */
import { keyOfBody } from "./keys.ts";
import { clockUs } from "./clock.ts";
import { eachOf, PINNED } from "./pinned.ts";
import { countUp } from "./tally.ts";

/** Of a lease `l`: at its first attempt, without a past, and nobody wants it to stop. */
const IS_PLAIN = "l.attempts = 1 AND l.flags & 1 = 0 AND NOT l.cancel_asked";
const LEASE =
  "l.q, l.grp, l.seq, l.fence, l.run_at, l.leased_at, l.max_attempts, l.crashes, l.flags, l.worker";

/** Finds the leases of the items `u`. */
function find(columns: string, lock = ""): string {
  return eachOf(`SELECT ${columns} FROM holdfast.leased l
        WHERE l.seq = u.seq AND l.fence = u.fence AND ${IS_PLAIN} ${lock}`);
}

/** From leases `e`. */
function keep({ dropped, result }: { readonly dropped: string; readonly result: string }): string {
  return `INSERT INTO holdfast.done (q, status, result_dropped, seq, finished_at, fence,
        settled_fence, run_at, started_at, attempts, max_attempts, crashes, flags, worker, result)
      SELECT e.q, 1, ${dropped}, e.seq, v_now, e.fence, e.fence, e.run_at, e.leased_at, 1,
        e.max_attempts, e.crashes, e.flags, e.worker, ${result}`;
}

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
  v_seqs bigint[];
  v_places tid[];
  v_queues integer[];
  v_groups text[];
  v_discarded bigint[];
  v_fences bigint[];
  v_keyed bigint[];
  v_capped integer[];
BEGIN
  now_us := ${clockUs("p_seen", "NOT p_is_late")};
  v_now := now_us / 1000;
  IF p_result IS NULL AND p_dropped IS NULL AND p_discard IS NULL THEN
    -- One that changes between the look and the delete is left alone: it takes the long way.
    WITH ended AS (
      DELETE FROM holdfast.leased l WHERE l.ctid = ANY (ARRAY(
        SELECT h.place FROM unnest(p_seq, p_fence) AS u (seq, fence)
        ${find("l.ctid AS place")} AS h)) AND ${IS_PLAIN}
      RETURNING ${LEASE}),
    kept AS (
      ${keep({ dropped: "false", result: "NULL" })} FROM ended e)
    SELECT array_agg(e.seq), array_agg(e.q), array_agg(e.grp),
      array_agg(e.seq) FILTER (WHERE e.flags & 2 = 2)
    INTO v_seqs, v_queues, v_groups, v_keyed FROM ended e;
    IF cardinality(v_seqs) = cardinality(p_seq) THEN settled := NULL;
    ELSE settled := ARRAY(SELECT u.ord FROM unnest(p_seq) WITH ORDINALITY AS u (seq, ord)
      WHERE u.seq = ANY (v_seqs));
    END IF;
    capped := v_queues;
  ELSE
    -- What belongs to each is known only here, so they are locked first and deleted afterwards.
    WITH ended AS (
      SELECT u.result, u.dropped, u.discard, u.ord, h.*
      FROM unnest(p_seq, p_fence, p_result, p_dropped, p_discard)
        WITH ORDINALITY AS u (seq, fence, result, dropped, discard, ord)
      ${find(`l.ctid AS place, ${LEASE}`, "FOR UPDATE")} AS h),
    kept AS (
      ${keep({ dropped: "e.dropped IS TRUE", result: "e.result" })}
      FROM ended e WHERE e.discard IS NOT TRUE)
    SELECT array_agg(e.place), array_agg(e.ord), array_agg(e.q), array_agg(e.grp),
      array_agg(e.seq) FILTER (WHERE e.flags & 2 = 2),
      array_agg(e.seq) FILTER (WHERE e.discard), array_agg(e.fence) FILTER (WHERE e.discard),
      array_agg(e.q) FILTER (WHERE e.discard IS NOT TRUE)
    INTO v_places, settled, capped, v_groups, v_keyed, v_discarded, v_fences, v_queues FROM ended e;
    DELETE FROM holdfast.leased WHERE ctid = ANY (v_places);
    IF cardinality(settled) = cardinality(p_seq) THEN settled := NULL;
    ELSE settled := coalesce(settled, '{}');
    END IF;
  END IF;
  IF capped IS NULL THEN RETURN; END IF;

  -- A key until finished is free from now on.
  IF v_keyed IS NOT NULL THEN
    v_places := ARRAY(SELECT k.place FROM unnest(v_keyed) AS u (seq)
      ${eachOf("SELECT * FROM holdfast.job x WHERE x.seq = u.seq AND x.key_life = -2")} AS j
      ${keyOfBody()} AS k);
    DELETE FROM holdfast.key WHERE ctid = ANY (v_places);
  END IF;
  IF v_discarded IS NOT NULL THEN
    PERFORM holdfast.bury(v_now, p_remembers_ms, v_discarded, v_fences, NULL);
  END IF;
  -- A capped line that was full is open again.
  v_capped := (SELECT array_agg(x.q) FROM holdfast.queue x WHERE x.q = ANY (capped) AND x.has_caps);
  IF v_capped IS NOT NULL THEN
    PERFORM holdfast.open_lines(array_agg(u.q), array_agg(u.grp))
    FROM unnest(capped, v_groups) AS u (q, grp) WHERE u.q = ANY (v_capped);
  END IF;
  capped := v_capped;
  IF p_is_late THEN
    PERFORM holdfast.count_up(true, array_agg(c.q), NULL, NULL, array_agg(c.n), NULL, NULL)
    FROM (${ENDED}) AS c (q, ready, delayed, n);
  ELSE
    ${countUp(ENDED)};
  END IF;
END $$;
`;
