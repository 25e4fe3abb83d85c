/** Ends a lease without its holder: the job goes back to its place in line, or ends as was asked for. */
import type { HeldLease } from "./held-lease.ts";
import { addAttempt, noteDetails } from "./job-details.ts";
import { endLease, HAS_PAST, standFinished, standInLine } from "./placement.ts";
import type { Transaction } from "./transaction.ts";

const DROP_LEASE = "DELETE FROM holdfast_leased WHERE seq = ?";

export interface TakenBack {
  readonly queue: string;
  readonly worker: string;
  readonly attempts: number;
  readonly crashes: number;
  readonly status: "queued" | "cancelled";
}

/**
 * Charged: the attempt stays spent, and a crash is counted and recorded. Else as if nobody had leased it.
 * The fence moves on either way, or its holder, if there is one after all, would still be heard.
 */
export function takeBack(
  tx: Transaction,
  lease: HeldLease,
  job: {
    readonly id: string;
    readonly group: string;
    readonly createdAt: number;
    readonly isCharged: boolean;
  },
): TakenBack {
  const { seq, w, leasedAt } = lease;
  const worker = tx.workers.nameOf(w);
  const queue = tx.queues.byNumber(lease.q);
  const attempts = lease.attempts - (job.isCharged ? 0 : lease.spent);
  const crashes = lease.crashes + (job.isCharged ? 1 : 0);
  const fence = tx.fenceAfter(lease.fence);
  const answer = { queue: queue.name, worker, attempts, crashes };
  // Who was tried before says since when it waits: see `due-jobs.ts`.
  const runAt = lease.runAt ?? (attempts > 0 ? job.createdAt : null);
  const moved = { ...lease, attempts, crashes, fence, runAt, flags: lease.flags | HAS_PAST };
  if (job.isCharged) {
    addAttempt(tx, seq, {
      ...{ attempt: attempts, fence: lease.fence, worker, startedAt: leasedAt, endedAt: tx.now },
      ...{ outcome: "crashed", category: null, message: null, stack: null },
    });
  }
  tx.db.run(DROP_LEASE, seq);
  endLease(tx, queue, { line: () => tx.lines.byNumber(lease.line), isCapped: lease.isCapped });
  if (lease.isCancelAsked) {
    noteDetails(tx, seq, { reason: lease.cancelReason, by_whom: lease.cancelBy });
    const finish = { startedAt: leasedAt, w, result: null, resultDropped: false };
    standFinished(tx, queue, moved, { as: "cancelled", ...finish });
    tx.finishedJobs.push(job.id);
    return { ...answer, status: "cancelled" };
  }
  noteDetails(tx, seq, { started_at: leasedAt, worker });
  standInLine(tx, queue, job.group, moved);
  return { ...answer, status: "queued" };
}
