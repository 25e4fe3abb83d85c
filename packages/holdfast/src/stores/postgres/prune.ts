/**
 * Retention. Only finished jobs are looked at, so work that has not run cannot be touched. Of all jobs
 * that are past a policy the one that finished first goes first: with a limit, a busy queue cannot
 * keep the others from being pruned.
 *
 * It is also the moment at which what has expired is swept, and what callers' transactions counted is
 * folded into the tally. Nobody saw the expired any more: every reader checks the time itself.
 */
import { FINISHED_STATUSES, type FinishedStatus } from "../../core/job.ts";
import type { Retention } from "../../core/store.ts";
import { QUEUE_REMEMBERED_MS } from "../../core/line.ts";
import type { Database } from "./database.ts";
import { BlockSweep } from "./queue-blocks.ts";
import { FIND_VICTIMS } from "./prune-function.ts";
import { sweepLines } from "./sweep-lines.ts";
import { number, numberOrNull, numbers } from "./row-values.ts";
import { HAS_PAST, STATUS_CODES } from "./placement.ts";
import { FOLD_TALLY, FORGET_QUEUES, FORGET_SETTINGS } from "./tally.ts";
import { bury } from "./tombstones.ts";
import type { Transaction } from "./transaction.ts";

/** Swept per call, of each kind. */
const SWEEP_AT_MOST = 1_000;

const TAKE = `
  WITH mine AS (
    SELECT x.seq FROM holdfast.done x WHERE x.seq = ANY ($1) ORDER BY x.seq FOR UPDATE SKIP LOCKED)
  DELETE FROM holdfast.done d USING mine m WHERE d.seq = m.seq
  RETURNING d.seq, d.q, d.settled_fence, d.flags, d.status`;

/** What ends at a time, and has an index by it. */
const ENDING = [
  ["gone", "forget_at"],
  ["key", "expires_at"],
  ["record", "expires_at"],
] as const;
/** The first to end is asked for, not whether any has: that question may be answered by a scan. */
const EXPIRED = `
  SELECT 1 WHERE ${ENDING.map(
    ([table, end]) => `(
    SELECT x.${end} FROM holdfast.${table} x WHERE x.${end} IS NOT NULL
    ORDER BY x.${end} LIMIT 1) <= $1 OR`,
  ).join("")}
    EXISTS (SELECT 1 FROM holdfast.hold WHERE until <= $1)
    OR EXISTS (SELECT 1 FROM holdfast.disowned WHERE forget_at <= $1)
    OR EXISTS (SELECT 1 FROM holdfast.line
      WHERE weight IS NULL AND max_active IS NULL AND held_until <= $1 AND NOT is_shut)`;
/** A record stays until the clock is past its version, or the next one of its key could get the same. */
const MAY_GO: Readonly<Record<string, string>> = { record: "AND x.version < $1 * 1000" };
const SWEEP = [...ENDING, ["hold", "until"] as const, ["disowned", "forget_at"] as const].map(
  ([table, end]) => `
    DELETE FROM holdfast.${table} WHERE ctid = ANY (ARRAY(
      SELECT x.ctid FROM holdfast.${table} x
      WHERE x.${end} IS NOT NULL AND x.${end} <= $1 ${MAY_GO[table] ?? ""}
      ORDER BY x.${end} LIMIT ${SWEEP_AT_MOST} FOR UPDATE SKIP LOCKED))`,
);

/** Each process goes around by itself. */
export class PruneTurn {
  /** Behind which queue the next call looks, by its number. */
  after = 0;
  readonly blocks = new BlockSweep();
}

export async function prune(
  { db, pruneTurn }: { readonly db: Database; readonly pruneTurn: PruneTurn },
  policies: readonly Retention[],
  limit: number,
): Promise<number> {
  const now = await db.transaction(async (tx) => {
    await sweep(tx);
    await pruneTurn.blocks.sweep(tx);
    return tx.now;
  });
  const seqs = await victimsOf(db, policies, { now, limit, turn: pruneTurn });
  if (seqs.length === 0) return 0;
  return db.transaction(async (tx) => {
    const rows = await tx.rows(TAKE, [seqs]);
    for (const row of rows) tx.count(number(row, 1), statusOf(number(row, 4)), -1);
    const gone = rows.map((row) => ({
      seq: number(row, 0),
      settledFence: number(row, 2),
      hasPast: (number(row, 3) & HAS_PAST) !== 0,
    }));
    await bury(tx, gone);
    return rows.length;
  });
}

function statusOf(code: number): FinishedStatus {
  const status = FINISHED_STATUSES.find((one) => STATUS_CODES[one] === code);
  if (status === undefined) throw new Error(`no finished status has the code ${code}`);
  return status;
}

async function sweep(tx: Transaction): Promise<void> {
  await tx.rows(FOLD_TALLY);
  const idleSince = tx.now - QUEUE_REMEMBERED_MS;
  await tx.rows(FORGET_QUEUES, [idleSince]);
  await tx.rows(FORGET_SETTINGS, [idleSince, tx.now]);
  const expired = await tx.rows(EXPIRED, [tx.now]);
  if (expired.length === 0) return;
  for (const sql of SWEEP) await tx.rows(sql, [tx.now]);
  await sweepLines(tx);
}

/** The numbers of the oldest jobs that are past a policy. */
async function victimsOf(
  db: Database,
  policies: readonly Retention[],
  { now, limit, turn }: { readonly now: number; readonly limit: number; readonly turn: PruneTurn },
): Promise<number[]> {
  const isBound = ({ olderThanMs, keep }: Retention) => olderThanMs !== null || keep !== null;
  if (limit <= 0 || !policies.some(isBound)) return [];
  const [row] = await db.rows(FIND_VICTIMS, [
    ...[turn.after, limit],
    policies.map(({ queue }) => queue),
    policies.map(({ status }) => STATUS_CODES[status]),
    policies.map(({ olderThanMs }) =>
      olderThanMs === null ? null : Math.floor(now - olderThanMs),
    ),
    policies.map(({ keep }) => keep),
  ]);
  if (row === undefined) throw new Error("prune_victims answered nothing");
  const victims = numbers(row, 0);
  // As long as these have something, they go on having their turn.
  if (victims.length < limit) turn.after = numberOrNull(row, 1) ?? 0;
  return victims;
}
