/**
 * Reaping: leases that ran out, the longest expired first. The fence moves on, or the old holder's
 * late settle would look like the repeat of one that happened. It kills nothing: who has crashed too
 * often is decided at the next lease.
 */
import { historyWith } from "../../core/history.ts";
import type { ReapedJob } from "../../core/store.ts";
import { endCancelled, requeue } from "./moves.ts";
import type { MemoryJob, MemoryState } from "./state.ts";

export function reap(state: MemoryState, { limit }: { readonly limit: number }): ReapedJob[] {
  const now = state.clock.now();
  const reaped: ReapedJob[] = [];
  while (reaped.length < limit) {
    const job = state.leased.peek();
    if (job === undefined || (job.leaseUntil ?? 0) > now) break;
    reaped.push(reapOne(state, job, now));
  }
  return reaped;
}

function reapOne(state: MemoryState, job: MemoryJob, now: number): ReapedJob {
  job.history = historyWith(job, { outcome: "crashed", failure: null, now });
  job.crashes++;
  job.fence = state.clock.fenceAfter(job.fence);
  const { cancelWhy } = job;
  if (cancelWhy === null) requeue(state, job, { runAt: job.runAt, now });
  else endCancelled(state, job, { why: cancelWhy, now });
  return {
    id: job.id,
    queue: job.queue,
    group: job.group,
    type: job.type,
    worker: job.worker ?? "",
    attempts: job.attempts,
    crashes: job.crashes,
    status: cancelWhy === null ? "queued" : "cancelled",
  };
}
