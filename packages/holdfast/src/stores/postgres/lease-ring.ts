/** What a lease does where lines may be held or full: parts of the function in `lease-function.ts`. */
import { LONGEST_WAIT_MS, SURE_AFTER_THIS_MS } from "./line-ring.ts";

/** A pass that makes the ring is hurried; a later one goes on with whoever comes about then. */
const BETWEEN_STEPS_MS = 20;

/** Of the queue `v_queue`, before its lines are walked. A caller that wants nothing writes nothing. */
export const TEND_RING = `      IF p_limit > 0 THEN
        IF v_queue.ring_from IS NOT NULL OR v_queue.ring_due_at <= v_now THEN
          PERFORM holdfast.tend_ring(p_q[i], v_now);
          SELECT * INTO v_queue FROM holdfast.queue x WHERE x.q = p_q[i];
        END IF;
        IF v_queue.has_lines AND v_now >= (SELECT l.held_until FROM holdfast.line l
          WHERE l.q = p_q[i] AND l.is_shut ORDER BY l.q, l.held_until LIMIT 1)
        THEN
          v_is_behind[i] := holdfast.reopen_lines(p_q[i], v_now);
        END IF;
      ELSE
        v_is_behind[i] := EXISTS (SELECT FROM holdfast.line l
          WHERE l.q = p_q[i] AND l.is_shut AND l.held_until <= v_now);
      END IF;
      v_is_behind[i] := v_is_behind[i]
        OR (v_queue.ring_from IS NOT NULL AND v_queue.ring_wait_ms < ${SURE_AFTER_THIS_MS + 1});
      -- A line may be missing from the ring: the next pass will find it.
      IF v_queue.ring_wait_ms < ${LONGEST_WAIT_MS} THEN
        v_next := least(v_next, greatest(v_queue.ring_due_at, v_now + ${BETWEEN_STEPS_MS}));
      END IF;`;

/**
 * How many jobs each of the lines `v_groups` may give. The locks are taken first: the count is a new
 * statement, which sees every lease that was committed before. Lines without room, and those that
 * another lease has locked, are left out, and the next walk goes on behind them.
 */
export const FIND_ROOM = `          v_free := array_fill(v_rest::bigint, ARRAY[v_lines_count]);
          IF EXISTS (SELECT FROM unnest(v_caps) AS c WHERE c IS NOT NULL) THEN
            v_locked := ARRAY(SELECT CASE WHEN u.cap IS NULL THEN true
                ELSE pg_try_advisory_xact_lock(hashtextextended(u.grp, v_salt | p_q[i])) END
              FROM unnest(v_groups, v_caps) AS u (grp, cap));
            v_free := ARRAY(SELECT CASE WHEN u.cap IS NULL THEN v_rest WHEN NOT u.locked THEN 0
                ELSE greatest(0, u.cap - (SELECT count(*) FROM holdfast.leased l
                  WHERE l.q = p_q[i] AND l.grp = u.grp)) END
              FROM unnest(v_groups, v_caps, v_locked) AS u (grp, cap, locked));
            IF false = ANY (v_locked) THEN v_is_more[i] := true; END IF;
            IF 0 = ANY (v_free) THEN
              v_last_group := v_groups[v_lines_count];
              v_is_around := v_lines_count < v_most AND v_passed IS NULL;
              SELECT coalesce(array_agg(u.grp), '{}'), array_agg(u.head), array_agg(u.weight),
                array_agg(u.cap), array_agg(u.free)
              INTO v_groups, v_heads, v_weights, v_caps, v_free
              FROM unnest(v_groups, v_heads, v_weights, v_caps, v_free)
                AS u (grp, head, weight, cap, free) WHERE u.free > 0;
              v_lines_count := cardinality(v_groups);
              IF v_lines_count = 0 AND NOT v_is_around THEN
                v_passed := coalesce(v_passed, v_last_group);
              END IF;
            END IF;
          END IF;`;
