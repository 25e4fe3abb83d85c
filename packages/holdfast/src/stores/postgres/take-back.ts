/**
 * Leases that end without a word of their holders: reaped, or disowned. The fence moves on, or the old
 * holder's late settle would look like the repeat of one that happened.
 *
 * A charged one has crashed: that is recorded, and its attempt stays spent. One that is not charged goes
 * back as if it had been released.
 */
import { recordOf } from "./conclude.ts";
import type { HeldLease } from "./held-lease.ts";
import { addAttempts, noteDetails } from "./job-details.ts";
import { freeKeysUntilFinished } from "./keys.ts";
import { HAS_KEY, HAS_PAST, makeRoom, placeFinished, placeInLine } from "./placement.ts";
import type { Transaction } from "./transaction.ts";

export interface EndedLease extends HeldLease {
  readonly isCharged: boolean;
}

/** The caller has deleted the leases. Answers the jobs as they are now. */
export async function takeBack(
  tx: Transaction,
  leases: readonly EndedLease[],
): Promise<EndedLease[]> {
  if (leases.length === 0) return [];
  await addAttempts(
    tx,
    leases
      .filter(({ isCharged }) => isCharged)
      .map((lease) => {
        const record = recordOf(lease, tx.now, { outcome: "crashed", failure: null });
        return { seq: lease.seq, records: [record] };
      }),
  );
  await noteDetails(
    tx,
    leases.map(({ seq, isCancelAsked, cancelReason, cancelBy, leasedAt, worker }) => ({
      seq,
      change: isCancelAsked
        ? { reason: cancelReason, by_whom: cancelBy }
        : { started_at: leasedAt, worker },
    })),
  );
  const moved = leases.map((lease) => ({
    ...lease,
    attempts: lease.attempts - (lease.isCharged ? 0 : lease.spent),
    crashes: lease.crashes + (lease.isCharged ? 1 : 0),
    fence: tx.fenceAfter(lease.fence),
    flags: lease.flags | HAS_PAST,
  }));
  await placeInLine(
    tx,
    moved.filter(({ isCancelAsked }) => !isCancelAsked),
  );
  await endCancelled(
    tx,
    moved.filter(({ isCancelAsked }) => isCancelAsked),
  );
  await makeRoom(tx, leases);
  return moved;
}

async function endCancelled(tx: Transaction, leases: readonly EndedLease[]): Promise<void> {
  await placeFinished(
    tx,
    leases.map((lease) => ({
      ...lease,
      as: "cancelled",
      finishedAt: tx.now,
      startedAt: lease.leasedAt,
      result: null,
      resultDropped: false,
    })),
  );
  const keyed = leases.filter(({ flags }) => (flags & HAS_KEY) !== 0);
  await freeKeysUntilFinished(
    tx,
    keyed.map(({ seq }) => seq),
  );
  for (const { id } of leases) tx.finished.push(id);
}
