/** What is remembered of a deleted job: that there was one, and its last settle. */
import { PINNED } from "./pinned.ts";
import type { Transaction } from "./transaction.ts";

/**
 * Deletes bodies and pasts of jobs that stand nowhere any more, and remembers their ids and their
 * last settles. A key with a time of its own stays, and then the id is remembered as long as the key:
 * a duplicate is told that id.
 */
export const BURY_FUNCTION = `
CREATE OR REPLACE FUNCTION holdfast.bury(p_now bigint, p_remembers_ms bigint, p_seq bigint[],
  p_fence bigint[], p_past bigint[])
RETURNS integer
LANGUAGE plpgsql
${PINNED}
AS $$
#variable_conflict use_column
BEGIN
  IF p_past IS NOT NULL THEN
    DELETE FROM holdfast.trail WHERE seq = ANY (p_past);
    DELETE FROM holdfast.step WHERE seq = ANY (p_past);
    DELETE FROM holdfast.log WHERE seq = ANY (p_past);
    DELETE FROM holdfast.attempt WHERE seq = ANY (p_past);
  END IF;
  WITH body AS (
    DELETE FROM holdfast.job j USING unnest(p_seq, p_fence) AS u (seq, fence) WHERE j.seq = u.seq
    RETURNING j.id, j.q, j.key, u.fence),
  freed AS (
    DELETE FROM holdfast.key k USING body b
    WHERE k.q = b.q AND k.key = b.key AND k.id = b.id AND k.expires_at IS NULL)
  INSERT INTO holdfast.gone AS g (id, settled_fence, forget_at)
  SELECT b.id, b.fence, greatest(p_now + p_remembers_ms, (SELECT k.expires_at FROM holdfast.key k
    WHERE k.q = b.q AND k.key = b.key AND k.id = b.id))
  FROM body b
  ON CONFLICT (id) DO UPDATE
  SET settled_fence = excluded.settled_fence, forget_at = excluded.forget_at;
  RETURN 0;
END $$;
`;

const BURY = "SELECT holdfast.bury($1, $2, $3, $4, $5)";

export interface Buried {
  readonly seq: number;
  readonly settledFence: number;
  /** There may be rows in trail, step, log or attempt. */
  readonly hasPast: boolean;
}

export async function bury(tx: Transaction, jobs: readonly Buried[]): Promise<void> {
  if (jobs.length === 0) return;
  await tx.rows(BURY, [
    tx.now,
    tx.remembersMs,
    jobs.map(({ seq }) => seq),
    jobs.map(({ settledFence }) => settledFence),
    jobs.filter(({ hasPast }) => hasPast).map(({ seq }) => seq),
  ]);
}
