/**
 * Retention. Only the heaps of finished jobs are looked at, so work that has not run cannot be
 * touched. Of all jobs that are past a policy, the one that finished first goes first: with a limit,
 * a busy queue cannot keep the others from being pruned.
 */
import { FINISHED_STATUSES } from "../../core/job.ts";
import { QUEUE_REMEMBERED_MS } from "../../core/line.ts";
import type { Retention } from "../../core/store.ts";
import { sweepHolds } from "./gates.ts";
import type { Heap } from "./heap.ts";
import { sweepKeys } from "./keys.ts";
import { bury, forget } from "./moves.ts";
import { dropIfIdle } from "./placement.ts";
import type { MemoryJob, MemoryQueue, MemoryState } from "./state.ts";

/** One queue and status, with the policies that are for it. */
interface Shelf {
  readonly jobs: Heap<MemoryJob>;
  readonly policies: readonly Retention[];
}

export function prune(state: MemoryState, policies: readonly Retention[], limit: number): number {
  const now = state.clock.now();
  const shelves = [...state.queues.values()].flatMap((queue) => shelvesOf(queue, policies));
  let pruned = 0;
  for (; pruned < limit; pruned++) {
    const job = oldestPast(shelves, now);
    if (job === null) break;
    bury(state, job, now);
  }
  sweep(state, now);
  return pruned;
}

function shelvesOf(queue: MemoryQueue, policies: readonly Retention[]): Shelf[] {
  return FINISHED_STATUSES.flatMap((status) => {
    const ofStatus = policies.filter((policy) => policy.status === status);
    const own = ofStatus.filter((policy) => policy.queue === queue.name);
    const general = ofStatus.filter((policy) => policy.queue === null);
    const inForce = own.length > 0 ? own : general;
    return inForce.length > 0 ? [{ jobs: queue.finished[status], policies: inForce }] : [];
  });
}

function oldestPast(shelves: readonly Shelf[], now: number): MemoryJob | null {
  let oldest: MemoryJob | null = null;
  for (const { jobs, policies } of shelves) {
    const job = jobs.peek();
    if (job === undefined) continue;
    const isPast = policies.some((policy) => isPastPolicy(policy, job, { count: jobs.size, now }));
    if (isPast && (oldest === null || finishedBefore(job, oldest))) oldest = job;
  }
  return oldest;
}

function isPastPolicy(
  { olderThanMs, keep }: Retention,
  job: MemoryJob,
  { count, now }: { readonly count: number; readonly now: number },
): boolean {
  const isTooOld = olderThanMs !== null && now - (job.finishedAt ?? now) >= olderThanMs;
  const isOneTooMany = keep !== null && count > keep;
  return isTooOld || isOneTooMany;
}

function finishedBefore(a: MemoryJob, b: MemoryJob): boolean {
  const [aEnd, bEnd] = [a.finishedAt ?? 0, b.finishedAt ?? 0];
  return aEnd !== bEnd ? aEnd < bEnd : a.seq < b.seq;
}

/** Clears what has expired. Nobody saw it any more: every reader checks the time itself. */
function sweep(state: MemoryState, now: number): void {
  for (let next = state.forgetting.peek(); next !== undefined; next = state.forgetting.peek()) {
    if (next.forgetAt > now) break;
    forget(state, next);
  }
  for (const [worker, { forgetAt }] of state.disowned) {
    if (forgetAt <= now) state.disowned.delete(worker);
  }
  sweepKeys(state, now);
  state.records.sweep(now);
  for (const queue of state.queues.values()) {
    sweepHolds(queue.holds, now);
    for (const line of queue.lines.values()) {
      sweepHolds(line.holds, now);
      dropIfIdle(queue, line);
    }
    if (isForgettable(queue, now)) state.queues.delete(queue.name);
  }
}

function isForgettable(queue: MemoryQueue, now: number): boolean {
  const { lines, delayed, finished, keys, holds, usedAt } = queue;
  const hasJobs = delayed.size > 0 || FINISHED_STATUSES.some((status) => finished[status].size > 0);
  const caps = [queue.maxActive, queue.maxActivePerGroup, queue.maxWaiting];
  const hasSettings = holds.size > 0 || caps.some((cap) => cap !== null);
  const isEmpty = lines.size === 0 && keys.size === 0 && !hasJobs && !hasSettings;
  return isEmpty && now - usedAt >= QUEUE_REMEMBERED_MS;
}
