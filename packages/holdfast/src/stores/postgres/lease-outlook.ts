/** When a caller that leased may come back: a part of the function in `lease-function.ts`. */

export const COME_BACK = `  -- When to come back.
  FOR i IN 1..v_count LOOP
    IF v_held_until[i] > v_now THEN
      v_next := least(v_next, v_held_until[i]);
      CONTINUE;
    END IF;
    v_due := (SELECT d.run_at FROM holdfast.delayed d WHERE d.q = p_q[i]
      ORDER BY d.q, d.run_at LIMIT 1);
    IF v_room[i] <= 0 THEN
      IF v_due > v_now THEN v_next := least(v_next, v_due); END IF;
      CONTINUE;
    END IF;
    v_next := least(v_next, v_due);
    IF (p_limit = 0 OR v_is_unseen[i]) AND NOT v_is_more[i]
      AND (p_capped > 0 OR NOT v_is_capped[i])
    THEN
      IF v_has_ring[i] THEN
        v_lines := holdfast.walk_ring(p_q[i], '', NULL, 1, v_now, v_per_group[i], p_capped <= 0);
      ELSE
        v_lines := holdfast.walk_lines(p_q[i], '', NULL, 1);
      END IF;
      v_is_more[i] := v_lines.groups IS NOT NULL OR v_lines.passed IS NOT NULL;
    END IF;
    IF v_is_more[i] OR v_is_behind[i] OR (v_all = 0 AND p_limit > 0) THEN v_next := v_now; END IF;
    IF v_has_lines[i] AND (p_capped > 0 OR NOT v_is_capped[i]) THEN
      v_next := least(v_next, holdfast.first_hold_end(p_q[i], v_now, p_capped <= 0));
    END IF;
  END LOOP;`;
