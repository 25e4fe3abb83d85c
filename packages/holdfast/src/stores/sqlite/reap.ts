/**
 * Reaping: leases that ran out, the longest expired first. The fence moves on, or the old holder's
 * late settle would look like the repeat of one that happened. It kills nothing: who has crashed too
 * often is decided at the next lease.
 *
 * A job that never started cannot have killed its holder, so it is not charged: one that has crashed
 * before and whose holder did not say that it starts, and one that its worker has disowned. A job that
 * has never crashed is believed to have started with its lease, and nobody needs to say so.
 */
import type { ReapedJob } from "../../core/store.ts";
import type { Connection } from "./connection.ts";
import { queuesWithDue } from "./count.ts";
import { Disowned } from "./disown.ts";
import { LEASED_COLUMNS, leaseOf, type LeasedRow } from "./held-lease.ts";
import { moveDue } from "./placement.ts";
import { takeBack } from "./take-back.ts";
import type { Transaction } from "./transaction.ts";

const HAS_EXPIRED = "SELECT 1 FROM holdfast_leased WHERE until <= ? LIMIT 1";
const EXPIRED = `
  SELECT j.id, j.grp, j.type, j.created_at, p.started, ${LEASED_COLUMNS}
  FROM (SELECT * FROM holdfast_leased WHERE until <= ? ORDER BY until, seq LIMIT ? + 0) p
  CROSS JOIN holdfast_job j ON j.seq = p.seq ORDER BY p.until, p.seq`;

type ExpiredRow = [
  id: string,
  group: string,
  type: string,
  createdAt: number,
  started: number,
  ...LeasedRow,
];

/** Looks without the write lock: nearly always there is nothing to reap. */
export function isReapDue(db: Connection, now: number): boolean {
  return db.value(HAS_EXPIRED, now) !== undefined || queuesWithDue(db, now).length > 0;
}

/**
 * Due jobs moved per call, so that those of held queues do not pile up for `count`. In all: thousands of
 * queues that have some at the same time would else be one transaction of seconds.
 */
const MOVE_DUE_AT_MOST = 500;

/** The condition is read again here, under the lock that also writes. */
export function reap(tx: Transaction, { limit }: { readonly limit: number }): ReapedJob[] {
  if (limit <= 0) return [];
  let left = MOVE_DUE_AT_MOST;
  for (const name of queuesWithDue(tx.db, tx.now)) {
    if (left <= 0) break;
    left -= moveDue(tx, tx.queues.findOrAdd(name), left);
  }
  const disowned = new Disowned(tx);
  const expired = tx.db.rows<ExpiredRow>(EXPIRED).all(tx.now, limit);
  return expired.map(([id, group, type, createdAt, started, ...row]) => {
    const lease = leaseOf(row);
    const isUnstarted = lease.crashes > 0 && started === 0;
    const charged = !isUnstarted && !disowned.has(lease, id);
    const takenBack = takeBack(tx, lease, { id, group, createdAt, isCharged: charged });
    return { id, group, type, charged, ...takenBack };
  });
}
