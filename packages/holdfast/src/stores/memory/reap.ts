/**
 * Reaping: leases that ran out, the longest expired first. The fence moves on, or the old holder's
 * late settle would look like the repeat of one that happened. It kills nothing: who has crashed too
 * often is decided at the next lease.
 */
import { historyWith } from "../../core/history.ts";
import type { ReapedJob } from "../../core/store.ts";
import { takeBack } from "./moves.ts";
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

/** What its holder never started cannot have killed it. */
function isCharged(state: MemoryState, job: MemoryJob, now: number): boolean {
  if (job.isUnstarted) return false;
  const disowned = state.disowned.get(job.worker ?? "");
  if (disowned === undefined || disowned.forgetAt <= now) return true;
  return disowned.except.has(`${job.id}:${job.fence}`);
}

function reapOne(state: MemoryState, job: MemoryJob, now: number): ReapedJob {
  const charged = isCharged(state, job, now);
  if (charged) {
    job.history = historyWith(job, { outcome: "crashed", failure: null, now });
    job.crashes++;
    // The attempt stays spent.
    job.leaseSpent = 0;
  }
  takeBack(state, job, now);
  return {
    id: job.id,
    queue: job.queue,
    group: job.group,
    type: job.type,
    worker: job.worker ?? "",
    attempts: job.attempts,
    crashes: job.crashes,
    charged,
    status: job.status === "cancelled" ? "cancelled" : "queued",
  };
}
