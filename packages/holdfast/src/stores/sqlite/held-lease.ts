/**
 * The lease a worker speaks of. Every write of a worker begins here: under the current fence it
 * happens, under any other it does not.
 */
import type { LeaseRef } from "../../core/store.ts";
import type { Moving } from "./placement.ts";
import type { Transaction } from "./transaction.ts";

export interface HeldLease extends Moving {
  readonly q: number;
  readonly line: number;
  /** What this lease added to `attempts`, so that giving back never takes too much. */
  readonly spent: number;
  readonly isCapped: boolean;
  /** The number of its worker. */
  readonly w: number;
  readonly leasedAt: number;
  readonly isCancelAsked: boolean;
  readonly cancelReason: string | null;
  readonly cancelBy: string | null;
}

export type LeasedRow = [
  seq: number,
  q: number,
  line: number,
  prio: number,
  attempts: number,
  maxAttempts: number,
  crashes: number,
  fence: number,
  settledFence: number,
  runAt: number | null,
  flags: number,
  spent: number,
  capped: number,
  w: number,
  leasedAt: number,
  cancelAsked: number,
  cancelReason: string | null,
  cancelBy: string | null,
];

export const LEASED_COLUMNS = `p.seq, p.q, p.line, p.prio, p.attempts, p.max_attempts, p.crashes,
  p.fence, p.settled_fence, p.run_at, p.flags, p.spent, p.capped, p.w, p.leased_at,
  p.cancel_asked, p.cancel_reason, p.cancel_by`;

const HELD = `SELECT ${LEASED_COLUMNS} FROM holdfast_leased p WHERE p.seq = ? AND p.fence = ?`;
const SEQ_OF = "SELECT seq FROM holdfast_job WHERE id = ?";

/**
 * The job's number and its queue's, so that renew and settle need no search, and its id, so that a
 * handle that got mixed up with another job's reference opens nothing.
 */
export function handleOf(seq: number, q: number, id: string): string {
  return `${seq}.${q}.${id}`;
}

/** A handle that is not one of ours for this job costs a search by id. */
export function seqOfHandle(tx: Transaction, { handle, id }: LeaseRef): number | null {
  const seq = Number.parseInt(handle, 10);
  if (handle.startsWith(`${seq}.`) && handle.endsWith(`.${id}`)) return seq;
  return (tx.db.value(SEQ_OF, id) as number | undefined) ?? null;
}

export function heldLease(tx: Transaction, ref: LeaseRef): HeldLease | null {
  const seq = seqOfHandle(tx, ref);
  if (seq === null) return null;
  const row = tx.db.rows<LeasedRow>(HELD).get(seq, ref.fence);
  return row === undefined ? null : leaseOf(row);
}

export function leaseOf(row: LeasedRow): HeldLease {
  const [seq, q, line, prio, attempts, maxAttempts, crashes, fence, settledFence] = row;
  const [, , , , , , , , , runAt, flags, spent, capped, w, leasedAt, ...cancel] = row;
  const [cancelAsked, cancelReason, cancelBy] = cancel;
  return {
    ...{ seq, q, line, prio, attempts, maxAttempts, crashes, fence, settledFence, runAt, flags },
    ...{ spent, w, leasedAt, cancelReason, cancelBy },
    isCapped: capped === 1,
    isCancelAsked: cancelAsked === 1,
  };
}
