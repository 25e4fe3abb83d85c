/**
 * Where the jobs of a queue are among all jobs. An index of every job by its queue would cost each
 * enqueue a twentieth. So it is kept by the thousand: a row of `queue_block` says that a queue has jobs
 * among 1,024 numbers, and a look at a queue walks those. A queue that is alone writes one row for a
 * thousand jobs.
 *
 * There is no unique index: two transactions that begin a block at once both write their row, and
 * neither waits for the other.
 */
import type { Transaction } from "./transaction.ts";

export const BLOCK_BITS = 10;
/** Blocks so far behind the newest one are swept: no open transaction is still writing there. */
const SETTLED_BLOCKS = 1_000;
const SWEEP_AT_MOST = 200;

/** Part of the function that inserts, once the jobs have their numbers. */
export const NOTE_BLOCKS = `
  IF v_count = 1 THEN
    IF NOT EXISTS (SELECT FROM holdfast.queue_block b
      WHERE b.q = p_q[1] AND b.block = seqs[1] >> ${BLOCK_BITS})
    THEN
      INSERT INTO holdfast.queue_block (q, block) VALUES (p_q[1], seqs[1] >> ${BLOCK_BITS});
    END IF;
  ELSE
    INSERT INTO holdfast.queue_block (q, block)
    SELECT u.q, u.block FROM (
      SELECT DISTINCT a.q, a.seq >> ${BLOCK_BITS} AS block FROM unnest(p_q, seqs) AS a (q, seq)) u
    WHERE NOT EXISTS (SELECT FROM holdfast.queue_block b WHERE b.q = u.q AND b.block = u.block);
  END IF;`;

/** The blocks of deleted jobs that no job of their queue is left in. */
const SWEEP_BLOCKS = `
  DELETE FROM holdfast.queue_block b USING (
    SELECT DISTINCT u.q, u.seq >> ${BLOCK_BITS} AS block
    FROM unnest($1::integer[], $2::bigint[]) AS u (q, seq)
    WHERE u.seq >> ${BLOCK_BITS} < ((SELECT last_value FROM holdfast.job_seq) >> ${BLOCK_BITS})
      - ${SETTLED_BLOCKS} LIMIT ${SWEEP_AT_MOST}) s
  WHERE b.q = s.q AND b.block = s.block AND NOT EXISTS (
    SELECT 1 FROM holdfast.job j WHERE j.q = s.q
      AND j.seq >= s.block << ${BLOCK_BITS} AND j.seq < (s.block + 1) << ${BLOCK_BITS})
`;

export async function sweepBlocks(
  tx: Transaction,
  gone: readonly { readonly q: number; readonly seq: number }[],
): Promise<void> {
  await tx.rows(SWEEP_BLOCKS, [gone.map(({ q }) => q), gone.map(({ seq }) => seq)]);
}
