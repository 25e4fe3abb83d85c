import type { Renewal, RenewResult } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import { seqOfHandle } from "./held-lease.ts";
import { HAS_PAST } from "./placement.ts";
import { takeAlong } from "./job-details.ts";
import type { Transaction } from "./transaction.ts";

const EXTEND = `
  UPDATE holdfast_leased SET until = ?, updated_at = ? WHERE seq = ? AND fence = ?
  RETURNING cancel_asked`;
/** Of two renewals of one attempt the later one counts, in whatever order they arrive. */
const TAKE_ORDER = `
  UPDATE holdfast_leased SET updates_order = ? WHERE seq = ? AND updates_order < ? RETURNING seq`;
/** Only a job that has crashed before is asked whether it started: see `reap.ts`. */
const MARK_STARTED = "UPDATE holdfast_leased SET started = 1 WHERE seq = ? AND crashes > 0";
const MARK_PAST = `UPDATE holdfast_leased SET flags = flags | ${HAS_PAST} WHERE seq = ?`;

/** A lease that ran out but was not reaped is still its holder's: the fence decides, not the time. */
export function renew(
  tx: Transaction,
  renewals: readonly Renewal[],
  leaseMs: number,
): RenewResult[] {
  const until = instantAfter(tx.now, leaseMs);
  return renewals.map((renewal) => {
    const seq = seqOfHandle(tx, renewal);
    if (seq === null) return "lost";
    const row = tx.db.rows<[number]>(EXTEND).get(until, tx.now, seq, renewal.fence);
    if (row === undefined) return "lost";
    if (renewal.starts === true) tx.db.run(MARK_STARTED, seq);
    if (isNews(tx, seq, renewal) && takeAlong(tx, seq, renewal.updates)) tx.db.run(MARK_PAST, seq);
    return row[0] === 1 ? "cancel" : "kept";
  });
}

/** Not a repeat, and not overtaken by a later renewal of the same attempt. */
function isNews(tx: Transaction, seq: number, { order, updates }: Renewal): boolean {
  if (order === undefined || updates === undefined) return true;
  return tx.db.rows(TAKE_ORDER).get(order, seq, order) !== undefined;
}
