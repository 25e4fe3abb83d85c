/**
 * Renewing, inside the database. A row that somebody else has locked (a caller's transaction that is
 * settling this very job, an operator, a reap) is passed by and named in `locked`: the others must
 * not wait for it. Who is in none of the three lists has lost its lease.
 */
import { CLOCK_US, eachOf, PINNED } from "./pinned.ts";

export const RENEW_FUNCTION = `
CREATE OR REPLACE FUNCTION holdfast.renew(p_seen bigint, p_lease_ms bigint, p_is_light boolean,
  p_seq bigint[], p_fence bigint[],
  OUT now_us bigint, OUT kept integer[], OUT cancelled integer[], OUT locked integer[])
LANGUAGE plpgsql
${PINNED}
AS $$
#variable_conflict use_column
DECLARE
  v_now bigint;
  v_places tid[];
BEGIN
  now_us := ${CLOCK_US};
  v_now := now_us / 1000;
  -- With nothing riding along, a renewal that a crash of the server forgets is one renewal less:
  -- the next one comes long before the lease ends. It need not wait for the disk.
  IF p_is_light THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
  SELECT array_agg(h.place), array_agg(u.ord), array_agg(u.ord) FILTER (WHERE h.cancel_asked)
  INTO v_places, kept, cancelled
  FROM unnest(p_seq, p_fence) WITH ORDINALITY AS u (seq, fence, ord)
  ${eachOf(`SELECT x.ctid AS place, x.cancel_asked FROM holdfast.leased x
    WHERE x.seq = u.seq AND x.fence = u.fence FOR UPDATE SKIP LOCKED`)} AS h;
  UPDATE holdfast.leased SET until = v_now + p_lease_ms, updated_at = v_now
  WHERE ctid = ANY (v_places);
  IF coalesce(cardinality(kept), 0) < cardinality(p_seq) THEN
    locked := ARRAY(
      SELECT u.ord FROM unnest(p_seq, p_fence) WITH ORDINALITY AS u (seq, fence, ord)
      ${eachOf(`SELECT FROM holdfast.leased x WHERE x.seq = u.seq AND x.fence = u.fence`)} AS h
      WHERE kept IS NULL OR u.ord <> ALL (kept));
  END IF;
END $$;
`;
