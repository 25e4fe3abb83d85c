/**
 * Leasing, inside the database: one round trip, and nothing written if there is nothing to lease.
 *
 * Lines are found, never jobs: a walk over the index of `ready` jumps from line to line, so a line of
 * a million jobs costs one step like a line of one. The walk begins with the line whose turn it is
 * (p_turn, p_left: the caller's own place in the ring of each queue) and wraps around. A queue
 * without groups is a ring of one line, and gets everything in one go.
 *
 * Caps are exact: who takes from a capped queue holds that queue's lock until it commits, who takes
 * from a capped line that line's; then the count is a new statement, which sees every commit before
 * the lock was had. A queue's lock is waited for, always in the order of queues; a line whose lock is
 * taken is passed by, it has somebody.
 *
 * Where there is one line only and nothing to obey, a short way is taken first (`lease-one-line.ts`).
 *
 * A search that has found nothing but held and full lines so far goes on with the next call; p_began is
 * where it began. So however many they are, one call passes a bounded number of them.
 *
 * p_max_bytes: the caller's bound in bytes (`byte-bound.ts`), and then what is left of it.
 *
 * p_hint…: up to where this caller has leased in a queue of one line, if finding its head has become
 * expensive (see `pick_behind`). Whether it has is told by the blocks it took, not by the time: a busy
 * machine must not change the order of jobs.
 */
import { LEASES_HERE } from "./await-leases.ts";
import {
  BYTE_VARIABLES,
  KEEP_WITHIN,
  LOOK_FOR_LARGE,
  NOTE_TURN,
  WEIGH_TURNS,
} from "./byte-bound.ts";
import { COME_BACK } from "./lease-outlook.ts";
import { FIND_ROOM, TEND_RING } from "./lease-ring.ts";
import { BLOCKS, holdMoved, IS_WORN, LEASE_ONE_LINE, LEASED_ROW } from "./lease-one-line.ts";
import { bodyOf, CLOCK_US, eachOf, PINNED } from "./pinned.ts";

/** How often a queue is walked in one call, when lines gave less than they promised. */
const MOST_WALKS = 4;

export const LEASE_FUNCTION = `
CREATE OR REPLACE FUNCTION holdfast.lease(
  p_seen bigint, p_worker text, p_lease_ms bigint, p_limit integer, p_capped integer,
  p_q integer[], p_share integer[], p_most integer[], p_turn text[], p_left integer[],
  p_began text[],
  p_hint_grp text[], p_hint_prio integer[], p_hint_seq bigint[], p_max_bytes bigint)
RETURNS TABLE (seq bigint, q integer, grp text, prio integer, id uuid, type text, attempts integer,
  max_attempts integer, spent integer, crashes integer, fence bigint, run_at bigint,
  created_at bigint, tags text, meta text, trace text, past text, payload text)
LANGUAGE plpgsql
${PINNED}
AS $$
#variable_conflict use_column
DECLARE
  v_us bigint := ${CLOCK_US};
  v_now bigint := v_us / 1000;
  v_salt bigint := 'holdfast.leased'::regclass::oid::bigint << 32;
  -- Before anything is read, and until the end: whoever sets a cap looks for it (\`await-leases.ts\`).
  v_is_known boolean := ${LEASES_HERE};
  v_count integer := cardinality(p_q);
  v_got integer[];
  v_moved integer[];
  v_room bigint[];
  v_per_group bigint[];
  v_is_capped boolean[];
  v_has_lines boolean[];
  v_has_ring boolean[];
  -- Lines are still to come into the ring.
  v_is_behind boolean[];
  v_held_until bigint[];
  v_is_more boolean[];
  -- Capped lines were not looked at: the caller has had its fill of them.
  v_is_unseen boolean[];
  v_due bigint;
  v_next bigint;
  v_seqs bigint[] := '{}';
  v_all integer := p_limit;
  v_of_capped integer := p_capped;
  v_queue holdfast.queue;
  v_want integer;
  v_spare integer;
  v_hungry integer;
  v_walks integer;
  v_rest integer;
  v_lines record;
  v_passed text;
  v_from text;
  v_start text;
  v_has_wrapped boolean;
  v_closed text[];
  v_is_plain boolean;
  v_groups text[];
  v_heads tid[];
  v_weights integer[];
  v_caps bigint[];
  v_free bigint[];
  v_locked boolean[];
  v_last_group text;
  v_is_around boolean;
  v_of_caps integer;
  v_quota integer[];
  v_sum integer;
  v_part integer;
  v_most integer;
  v_length integer;
  v_take integer;
  v_is_first boolean;
  v_is_stuck boolean;
  v_new bigint[];
  v_started record;
  v_lines_count integer;
  v_blocks bigint;
  v_last record;
  v_n integer;
  i integer;
${BYTE_VARIABLES}
BEGIN
${LEASE_ONE_LINE}
  v_got := array_fill(0, ARRAY[v_count]);
  v_moved := array_fill(0, ARRAY[v_count]);
  v_room := array_fill(NULL::bigint, ARRAY[v_count]);
  v_per_group := array_fill(NULL::bigint, ARRAY[v_count]);
  v_is_capped := array_fill(false, ARRAY[v_count]);
  v_has_lines := array_fill(false, ARRAY[v_count]);
  v_has_ring := array_fill(false, ARRAY[v_count]);
  v_is_behind := array_fill(false, ARRAY[v_count]);
  v_held_until := array_fill(0::bigint, ARRAY[v_count]);
  v_is_more := array_fill(false, ARRAY[v_count]);
  v_is_unseen := array_fill(false, ARRAY[v_count]);
  -- In the order of locks.
  FOR i IN SELECT u.n FROM unnest(p_q) WITH ORDINALITY AS u (q, n) ORDER BY u.q LOOP
    SELECT * INTO v_queue FROM holdfast.queue x WHERE x.q = p_q[i];
    v_held_until[i] := coalesce(v_queue.held_until, 0);
    CONTINUE WHEN v_held_until[i] > v_now;
    v_has_lines[i] := v_queue.has_lines;
    v_has_ring[i] := v_queue.has_ring;
    v_per_group[i] := v_queue.max_active_per_group;
    IF v_queue.has_ring THEN
${TEND_RING}
    END IF;
    v_is_capped[i] := v_queue.max_active IS NOT NULL OR v_queue.max_active_per_group IS NOT NULL;
    v_due := (SELECT d.run_at FROM holdfast.delayed d WHERE d.q = p_q[i]
      ORDER BY d.q, d.run_at LIMIT 1);
    IF v_due <= v_now AND p_limit > 0 THEN
      v_n := greatest(200, 2 * p_most[i]);
      v_moved[i] := holdfast.move_due(p_q[i], v_now, v_n);
      IF v_moved[i] < v_n THEN
        v_moved[i] := v_moved[i] + holdfast.move_due_of_others(p_q[i], v_now, v_n - v_moved[i]);
      END IF;
    END IF;
    IF v_queue.max_active IS NOT NULL THEN
      IF p_limit > 0 THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('queue', ~(v_salt | p_q[i])));
      END IF;
      v_room[i] := v_queue.max_active
        - (SELECT count(*) FROM holdfast.leased l WHERE l.q = p_q[i]);
    END IF;
  END LOOP;

${LOOK_FOR_LARGE}

  -- First everybody's share, then a part of what others have left, then what is left of that.
  FOR v_round IN 1..3 LOOP
    EXIT WHEN v_round > 1 AND v_all <= 0;
    IF v_round = 2 THEN
      v_spare := v_all;
      v_hungry := (SELECT sum(greatest(1, p_share[n])) FROM generate_series(1, v_count) AS n
        WHERE v_got[n] >= p_share[n]);
    END IF;
    FOR v_nth IN 1..v_count LOOP
      i := 1 + (v_nth + v_shift - 1) % v_count;
      CONTINUE WHEN v_is_cut OR v_held_until[i] > v_now
        OR (v_round > 1 AND v_got[i] < p_share[i]);
      v_want := least(v_all, p_most[i] - v_got[i]);
      IF v_round = 1 THEN
        v_want := least(v_want, p_share[i]);
      ELSIF v_round = 2 THEN
        v_want := least(v_want, ceil(v_spare::float * greatest(1, p_share[i]) / v_hungry)::integer);
      END IF;
      IF v_round = 1 AND v_want > 0 AND p_hint_seq[i] IS NOT NULL AND NOT v_has_lines[i]
        AND NOT v_is_capped[i] AND NOT v_is_tight
      THEN
        v_heads := holdfast.pick_behind(p_q[i], p_hint_grp[i], p_hint_prio[i], p_hint_seq[i],
          v_want);
        IF v_heads IS NULL THEN
          p_hint_seq[i] := NULL;
        ELSE
          v_started := holdfast.start_attempts(v_heads, p_worker, v_us, p_lease_ms);
          v_n := cardinality(v_started.seqs);
          v_seqs := v_seqs || v_started.seqs;
          v_got[i] := v_n;
          v_all := v_all - v_n;
          v_want := v_want - v_n;
          SELECT l.prio, l.seq INTO v_last FROM holdfast.leased l
          WHERE l.seq = ANY (v_started.seqs) AND (l.prio, l.seq) > (p_hint_prio[i], p_hint_seq[i])
          ORDER BY l.prio DESC, l.seq DESC LIMIT 1;
          IF FOUND THEN
            p_hint_prio[i] := v_last.prio;
            p_hint_seq[i] := v_last.seq;
          END IF;
        END IF;
      END IF;
      v_walks := 0;
      WHILE v_want > 0 LOOP
        v_rest := least(v_want, coalesce(v_room[i], v_want), v_fit)::integer;
        IF v_is_capped[i] THEN v_rest := least(v_rest, v_of_capped); END IF;
        IF v_rest <= 0 OR v_walks >= ${MOST_WALKS} THEN
          v_is_more[i] := v_rest > 0;
          v_is_unseen[i] := v_rest <= 0;
          EXIT;
        END IF;
        v_walks := v_walks + 1;
${NOTE_TURN}

        -- The ring, from the line whose turn it is.
        v_blocks := ${BLOCKS};
        v_from := coalesce(p_turn[i] || CASE WHEN p_left[i] > 0 THEN '' ELSE chr(1) END, '');
        v_start := coalesce(p_began[i], v_from);
        v_has_wrapped := v_from COLLATE "C" < v_start COLLATE "C";
        v_is_plain := NOT v_has_ring[i];
        v_most := greatest(v_rest, 2);
        IF v_is_plain THEN
          v_lines := holdfast.walk_lines(p_q[i], v_from, CASE WHEN v_has_wrapped THEN v_start END,
            v_most);
        ELSE
          v_lines := holdfast.walk_ring(p_q[i], v_from, CASE WHEN v_has_wrapped THEN v_start END,
            v_most, v_now, v_per_group[i], v_of_capped <= 0);
        END IF;
        v_groups := coalesce(v_lines.groups, '{}');
        v_heads := v_lines.heads;
        v_weights := v_lines.weights;
        v_caps := v_lines.caps;
        v_passed := v_lines.passed;
        v_closed := v_lines.closed;
        IF v_passed IS NULL AND NOT v_has_wrapped AND v_start <> ''
          AND cardinality(v_groups) < v_most
        THEN
          IF v_is_plain THEN
            v_lines := holdfast.walk_lines(p_q[i], '', v_start, v_most - cardinality(v_groups));
          ELSE
            v_lines := holdfast.walk_ring(p_q[i], '', v_start, v_most - cardinality(v_groups),
              v_now, v_per_group[i], v_of_capped <= 0);
          END IF;
          v_groups := v_groups || v_lines.groups;
          v_heads := v_heads || v_lines.heads;
          v_weights := v_weights || v_lines.weights;
          v_caps := v_caps || v_lines.caps;
          v_passed := v_lines.passed;
          v_closed := v_closed || v_lines.closed;
        END IF;
        IF v_closed IS NOT NULL THEN PERFORM holdfast.close_lines(p_q[i], v_closed, v_now); END IF;
        -- Come around to the very line where it began.
        IF v_passed || chr(1) = v_start THEN v_passed := NULL; END IF;
        v_lines_count := cardinality(v_groups);
        v_is_more[i] := v_passed IS NOT NULL;
        v_is_unseen[i] := v_has_ring[i] AND p_capped > 0 AND v_of_capped <= 0;
        p_began[i] := NULL;

        -- Room in capped lines.
        IF v_is_plain THEN v_free := array_fill(v_rest::bigint, ARRAY[v_lines_count]);
        ELSIF v_lines_count > 0 THEN
${FIND_ROOM}
        END IF;
        IF v_lines_count = 0 THEN
          EXIT WHEN v_passed IS NULL OR v_passed || chr(1) = v_start;
          -- Nothing to be had so far. The next walk begins behind it, and the ring is at its end where
          -- this search began.
          p_began[i] := v_start;
          p_turn[i] := v_passed;
          p_left[i] := 0;
          CONTINUE;
        END IF;

        -- Turns: as many jobs as a line weighs, round after round.
        v_of_caps := 0;
        IF NOT v_is_plain THEN
          v_of_caps := (SELECT count(c) FROM unnest(v_caps[1:v_rest]) AS c);
        END IF;
        IF 2 * v_lines_count > v_rest AND coalesce(p_left[i], 0) = 0 AND NOT v_is_tight
          AND (v_is_plain OR (v_of_caps <= v_of_capped AND 1 = ALL (v_weights[1:v_rest])))
        THEN
          -- One of each, and the walk has found them already. What is left is for the next walk.
          v_rest := least(v_rest, v_lines_count);
          p_turn[i] := v_groups[v_rest];
          v_heads := v_heads[1:v_rest];
          v_quota := NULL;
        ELSIF v_lines_count = 1 THEN
          v_quota := ARRAY[least(v_rest, v_free[1], CASE WHEN v_caps[1] IS NOT NULL
            THEN v_of_capped END)];
          -- Alone as far as the walk has come: others may wait behind many that are held.
          IF v_passed IS NOT NULL THEN
            p_turn[i] := v_groups[1];
            p_left[i] := 0;
          END IF;
        ELSE
          v_quota := array_fill(0, ARRAY[v_lines_count]);
          v_n := v_of_capped;
          v_is_first := coalesce(p_left[i], 0) > 0 AND v_groups[1] = p_turn[i];
          LOOP
            v_sum := (SELECT sum(w) FROM unnest(v_weights) AS w);
            v_part := greatest(1, v_rest / v_sum);
            v_is_stuck := true;
            FOR k IN 1..v_lines_count LOOP
              EXIT WHEN v_rest = 0;
              v_length := CASE WHEN k = 1 AND v_is_first THEN p_left[i]
                ELSE v_part * v_weights[k] END;
              v_is_first := false;
              v_take := least(v_length, v_rest, v_free[k] - v_quota[k],
                CASE WHEN v_caps[k] IS NOT NULL AND NOT v_is_capped[i] THEN v_n END);
              CONTINUE WHEN v_take <= 0;
              IF v_caps[k] IS NOT NULL THEN v_n := v_n - v_take; END IF;
              v_is_stuck := false;
              v_quota[k] := v_quota[k] + v_take;
              v_rest := v_rest - v_take;
              p_turn[i] := v_groups[k];
              -- A line that has no more room ends its turn early.
              p_left[i] := CASE WHEN v_quota[k] >= v_free[k] AND v_caps[k] IS NOT NULL THEN 0
                ELSE (v_length - v_take) % v_weights[k] END;
            END LOOP;
            EXIT WHEN v_rest = 0 OR v_is_stuck;
          END LOOP;
        END IF;

${WEIGH_TURNS}

        IF v_quota IS NULL AND v_lines_count > 1 THEN
          -- No row of this call's snapshot can leave its place before the call ends: the places that
          -- the walk has found are still theirs, or empty.
          RETURN QUERY
          WITH moved AS (
            DELETE FROM holdfast.ready d WHERE d.ctid = ANY (ARRAY(
              SELECT r.ctid FROM holdfast.ready r WHERE r.ctid = ANY (v_heads)
              FOR UPDATE SKIP LOCKED))
            RETURNING d.*),
          held AS (
            ${holdMoved("v_us")} RETURNING *)
          SELECT l.seq, l.q, ${LEASED_ROW}
          FROM held l ${bodyOf("l")} AS j;
          GET DIAGNOSTICS v_n = ROW_COUNT;
        ELSE
          IF v_quota IS NULL THEN v_quota := '{1}'; END IF;
          v_heads := ARRAY(
            SELECT x.ctid FROM unnest(v_groups, v_quota) AS t (grp, quota) CROSS JOIN LATERAL (
              SELECT r.ctid FROM holdfast.ready r WHERE r.q = p_q[i] AND r.grp = t.grp
              ORDER BY r.q, r.grp, r.prio, r.seq LIMIT t.quota FOR UPDATE SKIP LOCKED) x
            WHERE t.quota > 0);
${KEEP_WITHIN}
          v_blocks := ${BLOCKS} - v_blocks;
          v_started := holdfast.start_attempts(v_heads, p_worker, v_us, p_lease_ms);
          v_new := v_started.seqs;
          IF ${IS_WORN} AND v_lines_count = 1 AND v_is_plain THEN
            p_hint_grp[i] := v_groups[1];
            SELECT l.prio, l.seq INTO v_last FROM holdfast.leased l
            WHERE l.seq = ANY (v_new) ORDER BY l.prio DESC, l.seq DESC LIMIT 1;
            p_hint_prio[i] := v_last.prio;
            p_hint_seq[i] := v_last.seq;
          END IF;
          v_n := cardinality(v_new);
          v_seqs := v_seqs || v_new;
        END IF;
        v_got[i] := v_got[i] + v_n;
        v_all := v_all - v_n;
        v_want := v_want - v_n;
        v_room[i] := v_room[i] - v_n;
        IF v_is_capped[i] THEN
          v_of_capped := v_of_capped - v_n;
        ELSIF v_has_ring[i] AND v_quota IS NULL THEN
          v_of_capped := v_of_capped - least(v_n, v_of_caps);
        ELSIF v_has_ring[i] THEN
          v_of_capped := v_of_capped - (SELECT count(*)
            FROM unnest(v_groups, v_caps) AS c (grp, cap)
            JOIN unnest(v_started.groups) AS n (grp) ON n.grp = c.grp WHERE c.cap IS NOT NULL);
        END IF;
        EXIT WHEN v_is_cut;
      END LOOP;
      -- It was not asked to the end.
      IF v_want <= 0 AND v_got[i] > 0 THEN v_is_more[i] := true; END IF;
    END LOOP;
  END LOOP;

${COME_BACK}
  IF v_is_cut THEN v_next := v_now; END IF;

  PERFORM holdfast.count_up(false, array_agg(t.q),
    array_agg(t.moved - t.got), array_agg(-t.moved), NULL, NULL, NULL)
  FROM unnest(p_q, v_got, v_moved) AS t (q, got, moved) WHERE t.got > 0 OR t.moved > 0;

  RETURN QUERY
  SELECT l.seq, l.q, ${LEASED_ROW}
  FROM unnest(v_seqs) AS n (seq)
  ${eachOf("SELECT * FROM holdfast.leased x WHERE x.seq = n.seq")} AS l
  ${bodyOf("n")} AS j;
  -- The last row is about the call itself.
  fence := v_us;
  created_at := v_next;
  payload := json_build_object('got', v_got, 'turn', p_turn, 'left', p_left, 'began', p_began,
    'hintGroup', p_hint_grp, 'hintPrio', p_hint_prio, 'hintSeq', p_hint_seq);
  RETURN NEXT;
END $$;
`;
