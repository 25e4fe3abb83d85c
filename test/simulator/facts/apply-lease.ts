/** A lease, its renewals, and its end by a reap. */
import type { LeasedJob, Renewal, RenewResult } from "../../../packages/holdfast/src/core/store.ts";
import type { Book } from "./book.ts";
import { endCancelled, requeue } from "./apply-end.ts";
import { applyUpdates, isHolder } from "./holder.ts";
import type { JobFacts } from "./job-facts.ts";

export function applyLease(
  book: Book,
  job: JobFacts,
  granted: {
    readonly leased: LeasedJob;
    readonly worker: string;
    readonly process: string;
    readonly leaseMs: number;
  },
): void {
  const { leased, worker, process, leaseMs } = granted;
  const spent = job.attempts < job.maxAttempts ? 1 : 0;
  job.attempts += spent;
  job.fence = leased.fence;
  job.status = "processing";
  job.lease = {
    fence: leased.fence,
    worker,
    process,
    grantedAt: book.clock.now,
    updatesOrder: 0,
    until: book.clock.after(leaseMs),
    spent,
    crashes: job.crashes,
  };
  book.stand(job, "processing");
}

export function expectedRenewal(book: Book, renewal: Renewal): RenewResult {
  const job = book.jobs.get(renewal.id);
  if (!isHolder(job, renewal.fence)) return "lost";
  return job.cancelAsked ? "cancel" : "kept";
}

export function applyRenewal(book: Book, renewal: Renewal, leaseMs: number): void {
  const job = book.jobs.get(renewal.id);
  if (!isHolder(job, renewal.fence) || !job.lease) return;
  job.lease.until = book.clock.after(leaseMs);
  if (renewal.order !== undefined && renewal.order <= job.lease.updatesOrder) return;
  job.lease.updatesOrder = renewal.order ?? job.lease.updatesOrder;
  applyUpdates(job, renewal.updates, renewal.fence);
}

export function applyReap(book: Book, job: JobFacts): void {
  job.crashes += 1;
  job.fence += 1;
  if (job.cancelAsked) endCancelled(book, job);
  else requeue(book, job, job.runAt);
}
