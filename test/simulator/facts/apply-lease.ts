/** A lease, its renewals, and its end by a reap or because its worker never heard of it. */
import type {
  DisownRequest,
  LeasedJob,
  Renewal,
  RenewResult,
} from "../../../packages/holdfast/src/core/store.ts";
import type { Book } from "./book.ts";
import { endCancelled, giveBack, requeue } from "./apply-end.ts";
import { applyUpdates, isHolder } from "./holder.ts";
import type { JobFacts } from "./job-facts.ts";
import { attemptKey } from "../watcher.ts";

/** How long a store remembers who disowned what. */
const DISOWNED_FOR_MS = 3_600_000;

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
    isUnstarted: job.crashes > 0,
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
  if (renewal.starts) job.lease.isUnstarted = false;
  if (renewal.order !== undefined && renewal.order <= job.lease.updatesOrder) return;
  job.lease.updatesOrder = renewal.order ?? job.lease.updatesOrder;
  applyUpdates(job, renewal.updates, renewal.fence);
}

/** Does a lease that ran out count as a crash? Not if nobody can have run anything under it. */
export function isCharged(book: Book, { id, lease }: JobFacts): boolean {
  if (!lease || lease.isUnstarted) return false;
  const disowned = book.disowned.get(lease.worker);
  if (!disowned || disowned.forgetAt <= book.clock.now) return true;
  return disowned.except.has(attemptKey({ jobId: id, fence: lease.fence }));
}

export function applyReap(book: Book, job: JobFacts): void {
  if (isCharged(book, job)) job.crashes += 1;
  else giveBack(job);
  goBack(book, job);
}

/** What the worker leased under this name and does not know of. */
export function disownedBy(book: Book, { worker, except }: DisownRequest): JobFacts[] {
  const kept = keysOf(except);
  return [...book.processing].filter(
    ({ id, lease }) =>
      lease?.worker === worker && !kept.has(attemptKey({ jobId: id, fence: lease.fence })),
  );
}

export function applyDisown(book: Book, request: DisownRequest): void {
  const forgetAt = book.clock.now + DISOWNED_FOR_MS;
  book.disowned.set(request.worker, { except: keysOf(request.except), forgetAt });
  for (const job of disownedBy(book, request)) {
    giveBack(job);
    goBack(book, job);
  }
}

function goBack(book: Book, job: JobFacts): void {
  job.fence += 1;
  if (job.cancelAsked) endCancelled(book, job);
  else requeue(book, job, job.runAt);
}

function keysOf(refs: DisownRequest["except"]): Set<string> {
  return new Set(refs.map(({ id, fence }) => attemptKey({ jobId: id, fence })));
}
