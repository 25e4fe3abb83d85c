/**
 * The bound in bytes of a lease, inside the database. It is obeyed by taking fewer jobs: what the turns
 * would bring is weighed before anything is locked, and if it is too much the turns are taken again for
 * fewer. So a line is never passed by for the size of its jobs, and nothing is claimed that is not handed
 * out.
 *
 * Weighing costs a look at every body, and nearly all payloads are small. So an insert marks the large
 * ones, an index finds those, and a lease that is within its bound even if all its jobs are as large as
 * a small one can be weighs nothing.
 */
import { bodyOf, eachOf } from "./pinned.ts";
import { IS_LARGE } from "./placement.ts";

/** A payload up to this many characters is small. A thousand of them are within the engine's bound. */
export const SMALL_BYTES = 4_096;

/** Has a ready job, by its alias, a large payload? As the partial index `ready_large` says it. */
export function isLarge(row: string): string {
  return `${row}.flags & ${IS_LARGE} = ${IS_LARGE}`;
}

/** The bits of `flags` that a payload has. */
export function sizeFlags(payload: string): number {
  return payload.length > SMALL_BYTES ? IS_LARGE : 0;
}

export const BYTE_BOUND_FUNCTIONS = `
-- How many jobs so many from the heads of these lines are, and their bytes. The size of a payload that
-- is stored elsewhere is known without reading it.
CREATE OR REPLACE FUNCTION holdfast.weigh(p_q integer, p_groups text[], p_quota integer[],
  OUT jobs bigint, OUT bytes bigint)
LANGUAGE plpgsql
AS $$
BEGIN
  SELECT count(*), coalesce(sum(octet_length(j.payload)), 0) INTO jobs, bytes
  FROM unnest(p_groups, p_quota) AS t (grp, quota) CROSS JOIN LATERAL (
    SELECT r.seq FROM holdfast.ready r WHERE r.q = p_q AND r.grp = t.grp
    ORDER BY r.q, r.grp, r.prio, r.seq LIMIT t.quota) l
  ${bodyOf("l")} AS j
  WHERE t.quota > 0;
END $$;

-- Of jobs that the caller has locked, the first that are within so many bytes together. Others may have
-- taken what was weighed, and then these are later jobs of their lines. p_is_first: one comes anyway.
CREATE OR REPLACE FUNCTION holdfast.keep_within(p_heads tid[], p_bytes bigint, p_is_first boolean,
  OUT heads tid[], OUT bytes bigint)
LANGUAGE plpgsql
AS $$
BEGIN
  SELECT coalesce(array_agg(w.head ORDER BY w.ord), '{}'), coalesce(sum(w.bytes), 0)
  INTO heads, bytes
  FROM (
    SELECT u.head, u.ord, octet_length(j.payload) AS bytes,
      sum(octet_length(j.payload)) OVER (ORDER BY u.ord) AS total
    FROM unnest(p_heads) WITH ORDINALITY AS u (head, ord)
    JOIN holdfast.ready l ON l.ctid = u.head
    ${bodyOf("l")} AS j) w
  WHERE w.total <= p_bytes OR (p_is_first AND w.ord = 1);
END $$;
`;

// What follows are parts of the function in `lease-function.ts`.

/** Of the DECLARE. None has a first value: setting one costs every lease, and most never look at it. */
export const BYTE_VARIABLES = `
  -- The jobs may be too large together: they are weighed before they are taken.
  v_is_tight boolean;
  -- They were, and some are left behind.
  v_is_cut boolean;
  v_fit bigint;
  v_turn text;
  v_left integer;
  v_began text;
  v_load record;
  v_shift integer;`;

/** Could small payloads alone be too large together? The first job comes whatever its size. */
export const IS_NEAR = `(p_max_bytes IS NOT NULL AND p_limit > 1 AND p_limit * ${SMALL_BYTES}::bigint > p_max_bytes)`;

/** After due jobs have come into their lines. */
export const LOOK_FOR_LARGE = `
  v_is_cut := false;
  v_fit := p_limit;
  v_shift := 0;
  v_is_tight := ${IS_NEAR};
  IF p_max_bytes IS NOT NULL AND p_limit > 1 AND NOT v_is_tight THEN
    v_is_tight := EXISTS (SELECT FROM unnest(p_q) AS u (q)
      ${eachOf(`SELECT FROM holdfast.ready x WHERE x.q = u.q AND ${isLarge("x")} LIMIT 1`)} AS l);
  END IF;
  -- The first queue may leave no bytes for the others: so it is not always the same.
  IF v_is_tight THEN v_shift := v_us % v_count; END IF;`;

/** Before a walk. */
export const NOTE_TURN = `        v_turn := p_turn[i];
        v_left := p_left[i];
        v_began := p_began[i];`;

/** Once the turns are taken: `v_quota` of each of the lines `v_groups`. */
export const WEIGH_TURNS = `        IF v_is_tight THEN
          v_load := holdfast.weigh(p_q[i], v_groups, v_quota);
          IF v_load.bytes > p_max_bytes AND (v_load.jobs > 1 OR v_all < p_limit) THEN
            -- As if this walk had not been: the next one is for fewer.
            v_is_cut := true;
            p_turn[i] := v_turn;
            p_left[i] := v_left;
            p_began[i] := v_began;
            EXIT WHEN v_load.jobs = 1;
            v_fit := greatest(1, least(v_load.jobs * p_max_bytes / v_load.bytes,
              v_load.jobs * 7 / 8));
            v_walks := v_walks - 1;
            CONTINUE;
          END IF;
        END IF;`;

/** Once the jobs of the turns are locked. */
export const KEEP_WITHIN = `          IF v_is_tight THEN
            v_load := holdfast.keep_within(v_heads, p_max_bytes, v_all = p_limit);
            v_heads := v_load.heads;
            p_max_bytes := greatest(0, p_max_bytes - v_load.bytes);
          END IF;`;
