/**
 * Disowning: a worker that lost the reply of a lease says what it has, and everything else under its id
 * goes back. Rare, so it reads all leases, as every reap does.
 *
 * The id is remembered in the same transaction. A lease that commits before we look is taken back; one
 * that commits later, or that somebody has locked just now, is found by the id when it is reaped.
 */
import type { DisownRequest } from "../../core/store.ts";
import { LEASED_COLUMNS, leaseOf, seqsOf } from "./held-lease.ts";
import { bodyOf, PINNED } from "./pinned.ts";
import { numbers } from "./row-values.ts";
import { takeBack } from "./take-back.ts";
import type { Transaction } from "./transaction.ts";

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
export const DISOWN_FUNCTION = `
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
`;
const REMEMBER = `
  INSERT INTO holdfast.disowned (worker, forget_at, kept_seqs, kept_fences) VALUES ($1, $2, $3, $4)
  ON CONFLICT (worker) DO UPDATE SET forget_at = excluded.forget_at,
    kept_seqs = excluded.kept_seqs, kept_fences = excluded.kept_fences`;
const LOCK_LOST = "SELECT holdfast.lock_disowned($1, $2, $3)";
const END = `
  WITH ended AS (DELETE FROM holdfast.leased WHERE seq = ANY ($1) RETURNING *)
  SELECT ${LEASED_COLUMNS} FROM ended l ${bodyOf("l")} AS j`;

/** Answers how many went back. */
export async function disown(tx: Transaction, { worker, except }: DisownRequest): Promise<number> {
  const kept = [await seqsOf(tx, except), except.map(({ fence }) => fence)];
  await tx.rows(REMEMBER, [worker, tx.now + REMEMBERED_MS, ...kept]);
  const [locked] = await tx.rows(LOCK_LOST, [worker, ...kept]);
  const lost = locked === undefined ? [] : numbers(locked, 0);
  if (lost.length === 0) return 0;
  const rows = await tx.rows(END, [lost]);
  const leases = rows.map((row) => ({ ...leaseOf(row), isCharged: false }));
  await takeBack(tx, leases);
  return leases.length;
}
