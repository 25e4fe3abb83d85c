/**
 * The short way of a lease: one queue without settings, in which all ready jobs stand in one line.
 * That is what most leases meet, and then there are no turns to take and no caps to count. A statement
 * costs more to begin than a job costs to move, so taking, counting and answering are one.
 *
 * It is a part of the function in `lease-function.ts` and leaves everything else to it, also a line
 * whose jobs are all just being taken by others, and one with large payloads if they are bounded.
 */
import { IS_NEAR, isLarge } from "./byte-bound.ts";
import { bodyOf } from "./pinned.ts";
import { countUp } from "./tally.ts";

/** Of the ready table and its index, in this transaction so far. */
export const BLOCKS = `pg_stat_get_xact_blocks_fetched('holdfast.ready'::regclass)
          + pg_stat_get_xact_blocks_fetched('holdfast.ready_pkey'::regclass)`;
/** Blocks read to find the jobs of one lease, beyond a few for each: some thirty thousand dead rows. */
const MANY_BLOCKS = 500;

/** Of one walk for `v_want` jobs. */
export const IS_WORN = `v_blocks > ${MANY_BLOCKS} + 5 * v_want`;
/** Said instead of a report about turns, if the caller had better remember how far it came. */
export const WORN = "worn";

/** What an answer says of leases `l` with bodies `j`. What is nearly always the same is left out. */
export const LEASED_ROW = `l.grp, l.prio, j.id, j.type, nullif(l.attempts, 1), l.max_attempts,
    nullif(l.spent, 1), nullif(l.crashes, 0), nullif(l.fence, v_us), l.run_at, j.created_at,
    j.tags, j.meta, j.trace, CASE WHEN l.flags & 1 = 1 THEN holdfast.past_of(l.seq) END, j.payload`;

/** Makes leases of the ready jobs that were moved out of their lines. `us`: the instant it happens. */
export function holdMoved(us: string): string {
  return `INSERT INTO holdfast.leased (seq, q, grp, prio, fence, settled_fence, run_at, attempts,
      max_attempts, crashes, flags, spent, worker, leased_at, until)
    SELECT m.seq, m.q, m.grp, m.prio, greatest(m.fence + 1, ${us}), m.settled_fence, m.run_at,
      m.attempts + (m.attempts < m.max_attempts)::integer, m.max_attempts, m.crashes, m.flags,
      (m.attempts < m.max_attempts)::integer, p_worker, ${us} / 1000, ${us} / 1000 + p_lease_ms
    FROM moved m`;
}

export const LEASE_ONE_LINE = `
  IF p_limit > 0 AND cardinality(p_q) = 1 AND p_hint_seq[1] IS NULL
    AND NOT ${IS_NEAR}
  THEN
    v_blocks := ${BLOCKS};
    -- The head of the line too: then the dead rows before it are stepped over once only.
    SELECT h.grp, h.prio, h.seq INTO v_last FROM holdfast.queue x CROSS JOIN LATERAL (
      SELECT r.grp, r.prio, r.seq FROM holdfast.ready r WHERE r.q = x.q
      ORDER BY r.q, r.grp, r.prio, r.seq LIMIT 1) h
    WHERE x.q = p_q[1] AND x.held_until <= v_now AND NOT x.has_lines
      AND x.max_active IS NULL AND x.max_active_per_group IS NULL
      AND (SELECT true FROM holdfast.ready r WHERE r.q = x.q AND r.grp > h.grp LIMIT 1) IS NULL
      AND (SELECT true FROM holdfast.delayed d WHERE d.q = x.q AND d.run_at <= v_now
        LIMIT 1) IS NULL
      AND (p_max_bytes IS NULL OR p_limit = 1 OR (
        SELECT true FROM holdfast.ready r WHERE r.q = x.q AND ${isLarge("r")} LIMIT 1) IS NULL);
    IF FOUND THEN
      v_want := least(p_limit, p_most[1]);
      RETURN QUERY
      WITH moved AS (
        DELETE FROM holdfast.ready d WHERE d.ctid = ANY (ARRAY(
          SELECT r.ctid FROM holdfast.ready r WHERE r.q = p_q[1] AND r.grp = v_last.grp
            AND (r.prio, r.seq) >= (v_last.prio, v_last.seq)
          ORDER BY r.q, r.grp, r.prio, r.seq LIMIT v_want FOR UPDATE SKIP LOCKED))
        RETURNING d.*),
      held AS (
        ${holdMoved("v_us")}
        RETURNING seq, grp, prio, attempts, max_attempts, spent, crashes, fence, run_at, flags),
      counted AS (
        ${countUp("SELECT p_q[1], -count(*), 0, 0, 0, 0 FROM held HAVING count(*) > 0")})
      SELECT l.seq, NULL::integer, ${LEASED_ROW}
      FROM held l ${bodyOf("l")} AS j;
      GET DIAGNOSTICS v_n = ROW_COUNT;
      IF v_n > 0 THEN
        v_next := v_now;
        IF v_n < v_want THEN
          -- Is there nothing left, or did others have it for a moment?
          v_next := (SELECT CASE WHEN r.is_more THEN v_now ELSE d.run_at END
            FROM (SELECT (SELECT true FROM holdfast.ready r WHERE r.q = p_q[1] LIMIT 1)) AS r (is_more)
            LEFT JOIN LATERAL (SELECT d.run_at FROM holdfast.delayed d WHERE d.q = p_q[1]
              ORDER BY d.q, d.run_at LIMIT 1) d ON true);
        END IF;
        -- To take a job that was found reads two more.
        v_blocks := ${BLOCKS} - v_blocks - 2 * v_n;
        fence := v_us;
        created_at := v_next;
        payload := CASE WHEN ${IS_WORN} THEN '${WORN}' END;
        RETURN NEXT;
        RETURN;
      END IF;
    END IF;
  END IF;
`;
