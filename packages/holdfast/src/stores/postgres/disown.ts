/**
 * Disowning: a worker that lost the reply of a lease says what it has, and everything else under its id
 * goes back. Rare, so it reads all leases, as every reap does.
 *
 * The id is remembered in the same call. A lease that commits before we look is taken back; one
 * that commits later, or that somebody has locked just now, is found by the id when it is reaped.
 */
import type { DisownRequest } from "../../core/store.ts";
import { seqsOf } from "./held-lease.ts";
import type { OperateOptions } from "./change-each.ts";
import { CLOCK_US, PINNED } from "./pinned.ts";
import { TAKEN_BACK, takenBack, type AllTakenBack } from "./take-back.ts";

/** At least as long as a call may be on its way. */
const REMEMBERED_MS = 3_600_000;
const LONGEST_WAIT_MS = 20;

/** Is a lease `l` not among these? */
function isNotKept(seqs: string, fences: string): string {
  return `NOT EXISTS (SELECT 1 FROM unnest(${seqs}, ${fences}) AS k (seq, fence)
    WHERE k.seq = l.seq AND k.fence = l.fence)`;
}

/** Has the worker of a lease `l` disowned it? `now`: a value of the statement. */
export function isDisowned(now: string): string {
  return `EXISTS (SELECT 1 FROM holdfast.disowned d WHERE d.worker = l.worker
    AND d.forget_at > ${now} AND ${isNotKept("d.kept_seqs", "d.kept_fences")})`;
}

const LOST = `FROM holdfast.leased l WHERE l.worker = p_worker
    AND ${isNotKept("p_seqs", "p_fences")} ORDER BY l.seq FOR UPDATE`;

/** Whoever has one locked for a moment is waited for, as in `lock_expired`. */
export const DISOWN_FUNCTIONS = `
CREATE OR REPLACE FUNCTION holdfast.lock_disowned(p_worker text, p_seqs bigint[], p_fences bigint[])
RETURNS bigint[]
LANGUAGE plpgsql
${PINNED} SET lock_timeout = ${LONGEST_WAIT_MS}
AS $$
BEGIN
  RETURN ARRAY(SELECT l.seq ${LOST});
EXCEPTION WHEN lock_not_available THEN
  RETURN ARRAY(SELECT l.seq ${LOST} SKIP LOCKED);
END $$;

CREATE OR REPLACE FUNCTION holdfast.disown(p_seen bigint, p_worker text, p_seqs bigint[],
  p_fences bigint[]) RETURNS TABLE (${TAKEN_BACK})
LANGUAGE plpgsql
${PINNED}
AS $$
#variable_conflict use_column
DECLARE
  v_us bigint := ${CLOCK_US};
  v_lost bigint[];
BEGIN
  INSERT INTO holdfast.disowned (worker, forget_at, kept_seqs, kept_fences)
  VALUES (p_worker, v_us / 1000 + ${REMEMBERED_MS}, p_seqs, p_fences)
  ON CONFLICT (worker) DO UPDATE SET forget_at = excluded.forget_at,
    kept_seqs = excluded.kept_seqs, kept_fences = excluded.kept_fences;
  v_lost := holdfast.lock_disowned(p_worker, p_seqs, p_fences);
  RETURN QUERY SELECT *
  FROM holdfast.take_back(v_us, v_lost, array_fill(false, ARRAY[cardinality(v_lost)]));
END $$;
`;
const DISOWN = "SELECT * FROM holdfast.disown($1, $2, $3, $4)";

export async function disown(
  { db, clock }: OperateOptions,
  { worker, except }: DisownRequest,
): Promise<AllTakenBack> {
  const kept = [await seqsOf(db, except), except.map(({ fence }) => fence)];
  return takenBack(await db.rows(DISOWN, [clock.seen, worker, ...kept]), clock);
}
