/**
 * Promises to holders whose job a caller's open transaction is settling. Its row is locked, so the lease
 * cannot be extended; the holder is told that it is kept, and goes on. Were the transaction rolled back
 * behind its back (the server restarts, a connection breaks), a reaping might come before the next renewal,
 * and the job would be charged for that. So what is promised is noted beside it, and a reaping passes such
 * leases by.
 *
 * The notes are kept among the disowned workers, which a chore clears by the same column. They are few.
 */
import type { Database } from "./database.ts";

/** Nothing that a worker is called. */
const nameOf = (seq: string, fence: string): string => `'promised ' || ${seq} || ' ' || ${fence}`;

const NOTE = `
  INSERT INTO holdfast.disowned (worker, forget_at, kept_seqs, kept_fences)
  SELECT DISTINCT ${nameOf("u.seq", "u.fence")}, $3::bigint, '{}'::bigint[], '{}'::bigint[]
  FROM unnest($1::bigint[], $2::bigint[]) AS u (seq, fence)
  ON CONFLICT (worker) DO UPDATE SET forget_at = greatest(disowned.forget_at, excluded.forget_at)`;

export interface PromisedLease {
  readonly seq: number;
  readonly fence: number;
}

export async function promise(
  db: Database,
  leases: readonly PromisedLease[],
  until: number,
): Promise<void> {
  if (leases.length === 0) return;
  await db.rows(NOTE, [leases.map(({ seq }) => seq), leases.map(({ fence }) => fence), until]);
}

/** Was a lease `l` promised to last beyond now? `now`: a value of the statement. */
export function isPromised(now: string): string {
  return `EXISTS (SELECT 1 FROM holdfast.disowned p
    WHERE p.worker = ${nameOf("l.seq", "l.fence")} AND p.forget_at > ${now})`;
}
