/**
 * Where the jobs of a queue are among all jobs. An index of every job by its queue would cost each
 * enqueue a twentieth. So it is kept by the thousand: a row of `queue_block` says that a queue has jobs
 * among 1,024 numbers, and a look at a queue walks those. A queue that is alone writes one row for a
 * thousand jobs.
 *
 * There is no unique index: two transactions that begin a block at once both write their row, and
 * neither waits for the other.
 */
import { eachOf, PINNED } from "./pinned.ts";
import { number } from "./row-values.ts";
import type { Transaction } from "./transaction.ts";

export const BLOCK_BITS = 10;
/** Blocks so far behind the newest one are swept: no open transaction is still writing there. */
const SETTLED_BLOCKS = 1_000;
const SWEEP_AT_MOST = 200;
const SWEEP_EVERY_MS = 30_000;

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

const SWEEP = "SELECT * FROM holdfast.sweep_blocks($1)";

export const SWEEP_BLOCKS_FUNCTION = `
-- Of the next blocks, of all queues: forgets the rows of those that have no job there. It reads a thousand
-- bodies at most for each block. How many blocks there were, and the last of them.
CREATE OR REPLACE FUNCTION holdfast.sweep_blocks(p_after bigint, OUT looked bigint, OUT last bigint)
LANGUAGE plpgsql
${PINNED}
AS $$
DECLARE
  v_before bigint := (SELECT (s.last_value >> ${BLOCK_BITS}) - ${SETTLED_BLOCKS} FROM holdfast.job_seq s);
BEGIN
  WITH RECURSIVE blocks AS (
    (SELECT b.block, 1 AS n FROM holdfast.queue_block b
    WHERE b.block > p_after AND b.block < v_before ORDER BY b.block LIMIT 1)
    UNION ALL
    SELECT f.block, w.n + 1 FROM blocks w
    ${eachOf(`SELECT b.block FROM holdfast.queue_block b
      WHERE b.block > w.block AND b.block < v_before ORDER BY b.block LIMIT 1`)} AS f
    WHERE w.n < ${SWEEP_AT_MOST}),
  alive AS MATERIALIZED (
    SELECT DISTINCT j.q, w.block FROM blocks w ${eachOf(`SELECT x.q FROM holdfast.job x
      WHERE x.seq >= w.block << ${BLOCK_BITS} AND x.seq < (w.block + 1) << ${BLOCK_BITS}`)} AS j),
  swept AS (
    DELETE FROM holdfast.queue_block WHERE ctid = ANY (ARRAY(
      SELECT p.place FROM blocks w ${eachOf(`SELECT x.ctid AS place, x.q FROM holdfast.queue_block x
        WHERE x.block = w.block FOR UPDATE SKIP LOCKED`)} AS p
      WHERE (p.q, w.block) NOT IN (SELECT a.q, a.block FROM alive a))))
  SELECT count(*), max(b.block) INTO looked, last FROM blocks b;
END $$;
`;

/**
 * Forgets blocks that no job of their queue is left in: else a queue that keeps no jobs would have a row for
 * each thousand for ever, and whoever looks at it would walk them all. Each process goes round by itself.
 */
export class BlockSweep {
  #after = -1;
  #nextAt = -Infinity;

  async sweep(tx: Transaction): Promise<void> {
    if (performance.now() < this.#nextAt) return;
    this.#nextAt = performance.now() + SWEEP_EVERY_MS;
    const [row] = await tx.rows(SWEEP, [this.#after]);
    const isRound = row === undefined || number(row, 0) < SWEEP_AT_MOST;
    this.#after = isRound ? -1 : number(row, 1);
  }
}
