/**
 * Reaping: leases that ran out, the longest expired first. The fence moves on, or the old holder's
 * late settle would look like the repeat of one that happened. It kills nothing: who has crashed too
 * often is decided at the next lease.
 */
import type { ReapedJob } from "../../core/store.ts";
import type { Connection } from "./connection.ts";
import { queuesWithDue } from "./count.ts";
import { LEASED_COLUMNS, leaseOf, type HeldLease, type LeasedRow } from "./held-lease.ts";
import { endLease, HAS_PAST, moveDue, standFinished, standInLine } from "./placement.ts";
import { addAttempt, noteDetails } from "./job-details.ts";
import type { Transaction } from "./transaction.ts";

const HAS_EXPIRED = "SELECT 1 FROM holdfast_leased WHERE until <= ? LIMIT 1";
const EXPIRED = `
  SELECT ${LEASED_COLUMNS}, j.id, j.grp, j.type
  FROM (SELECT * FROM holdfast_leased WHERE until <= ? ORDER BY until, seq LIMIT ? + 0) p
  CROSS JOIN holdfast_job j ON j.seq = p.seq ORDER BY p.until, p.seq`;
const DROP_LEASE = "DELETE FROM holdfast_leased WHERE seq = ?";

/** Looks without the write lock: nearly always there is nothing to reap. */
export function isReapDue(db: Connection, now: number): boolean {
  return db.value(HAS_EXPIRED, now) !== undefined || queuesWithDue(db, now).length > 0;
}

/** Due jobs moved per queue and call, so that those of a held queue do not pile up for `count`. */
const MOVE_DUE_AT_MOST = 500;

/** The condition is read again here, under the lock that also writes. */
export function reap(tx: Transaction, { limit }: { readonly limit: number }): ReapedJob[] {
  if (limit <= 0) return [];
  for (const name of queuesWithDue(tx.db, tx.now)) {
    moveDue(tx, tx.queues.findOrAdd(name), MOVE_DUE_AT_MOST);
  }
  const expired = tx.db.rows<[...LeasedRow, string, string, string]>(EXPIRED).all(tx.now, limit);
  return expired.map((row) => {
    const [id, group, type] = row.slice(-3) as [string, string, string];
    return reapOne(tx, leaseOf(row.slice(0, -3) as LeasedRow), { id, group, type });
  });
}

function reapOne(
  tx: Transaction,
  lease: HeldLease,
  body: { readonly id: string; readonly group: string; readonly type: string },
): ReapedJob {
  const { seq, attempts, w, leasedAt } = lease;
  const worker = tx.workers.nameOf(w);
  const queue = tx.queues.byNumber(lease.q);
  const crashes = lease.crashes + 1;
  const moved = {
    ...lease,
    crashes,
    fence: tx.fenceAfter(lease.fence),
    flags: lease.flags | HAS_PAST,
  };
  addAttempt(tx, seq, {
    ...{ attempt: attempts, fence: lease.fence, worker, startedAt: leasedAt, endedAt: tx.now },
    ...{ outcome: "crashed", category: null, message: null, stack: null },
  });
  tx.db.run(DROP_LEASE, seq);
  endLease(tx, queue, { line: () => tx.lines.byNumber(lease.line), isCapped: lease.isCapped });
  if (lease.isCancelAsked) {
    noteDetails(tx, seq, { reason: lease.cancelReason, by_whom: lease.cancelBy });
    const finish = { startedAt: leasedAt, w, result: null, resultDropped: false };
    standFinished(tx, queue, moved, { as: "cancelled", ...finish });
    tx.finishedJobs.push(body.id);
  } else {
    noteDetails(tx, seq, { started_at: leasedAt, worker });
    standInLine(tx, queue, body.group, moved);
  }
  const status = lease.isCancelAsked ? "cancelled" : "queued";
  return { ...body, queue: queue.name, worker, attempts, crashes, status };
}
