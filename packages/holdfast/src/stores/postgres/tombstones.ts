/** What is remembered of a deleted job: that there was one, and its last settle. */
import { keyOfBody } from "./keys.ts";
import { eachOf, PINNED } from "./pinned.ts";
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
DECLARE
  v_keys tid[];
BEGIN
  IF p_past IS NOT NULL THEN
    DELETE FROM holdfast.job_details WHERE seq = ANY (p_past);
    DELETE FROM holdfast.step WHERE seq = ANY (p_past);
    DELETE FROM holdfast.log WHERE seq = ANY (p_past);
    DELETE FROM holdfast.attempt WHERE seq = ANY (p_past);
  END IF;
  WITH body AS (
    SELECT u.fence, h.* FROM unnest(p_seq, p_fence) AS u (seq, fence)
    ${eachOf("SELECT x.id, x.q, x.key FROM holdfast.job x WHERE x.seq = u.seq")} AS h),
  remembered AS (
    INSERT INTO holdfast.gone AS g (id, settled_fence, forget_at)
    SELECT b.id, b.fence, greatest(p_now + p_remembers_ms, (SELECT k.expires_at FROM holdfast.key k
      WHERE k.q = b.q AND k.key = b.key AND k.id = b.id))
    FROM body b
    ON CONFLICT (id) DO UPDATE
    SET settled_fence = excluded.settled_fence, forget_at = excluded.forget_at)
  SELECT array_agg(k.place) INTO v_keys FROM body j
  ${keyOfBody("AND k.expires_at IS NULL")} AS k WHERE j.key IS NOT NULL;
  IF v_keys IS NOT NULL THEN DELETE FROM holdfast.key WHERE ctid = ANY (v_keys); END IF;
  DELETE FROM holdfast.job WHERE seq = ANY (p_seq);
  RETURN 0;
END $$;
`;

const BURY = "SELECT holdfast.bury($1, $2, $3, $4, $5)";

export interface Buried {
  readonly seq: number;
  readonly settledFence: number;
  /** There may be rows in job_details, step, log or attempt. */
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
