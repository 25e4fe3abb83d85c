/**
 * The three ways a job moves on, whoever moves it: it finishes, it goes back to its line, or it is
 * deleted.
 *
 *     queued ──lease──▶ processing ──settle──▶ succeeded, dead, cancelled ──prune──▶ deleted
 *       ▲ ▲                 │                        │
 *       │ └─settle or reap──┘                        │
 *       └──────────────────revive────────────────────┘        (a queued job may be cancelled at once)
 */
import type { FinishedStatus } from "../../core/job.ts";
import type { Why } from "../../core/store.ts";
import { freeKey, ownKey } from "./keys.ts";
import { moveTo, placeInLine } from "./placement.ts";
import { queueOf, type MemoryJob, type MemoryState, type Tombstone } from "./state.ts";

export function finish(
  state: MemoryState,
  job: MemoryJob,
  { as, now }: { readonly as: FinishedStatus; readonly now: number },
): void {
  endLease(job);
  job.status = as;
  job.finishedAt = now;
  job.updatedAt = now;
  if (job.dedupe?.lifetime === "until-finished") freeKey(state, queueOf(state, job.queue), job);
  moveTo(state, job, as);
  state.wakeups.finished(job.id);
}

/** By a person's wish, or the handler's own (then nobody's name is in `by`). */
export function endCancelled(
  state: MemoryState,
  job: MemoryJob,
  { why, now }: { readonly why: Why; readonly now: number },
): void {
  job.reason = why.reason;
  job.by = why.by;
  finish(state, job, { as: "cancelled", now });
}

/** Back to its place in line, or among the delayed until `runAt`. */
export function requeue(
  state: MemoryState,
  job: MemoryJob,
  { runAt, now }: { readonly runAt: number; readonly now: number },
): void {
  endLease(job);
  job.status = "queued";
  job.runAt = runAt;
  job.finishedAt = null;
  job.updatedAt = now;
  placeInLine(state, job, now);
}

/**
 * Back to its place as if nobody had leased it: the attempt is given back and the fence moves on, or its
 * holder, if there is one after all, would still be heard.
 */
export function takeBack(state: MemoryState, job: MemoryJob, now: number): void {
  job.attempts -= job.leaseSpent;
  job.fence = state.clock.fenceAfter(job.fence);
  const { cancelWhy } = job;
  if (cancelWhy === null) requeue(state, job, { runAt: job.runAt, now });
  else endCancelled(state, job, { why: cancelWhy, now });
}

/**
 * Deletes the job and remembers its id and its last settle. A key with a time of its own stays, and
 * then the id is remembered as long as the key: a duplicate is told that id.
 */
export function bury(state: MemoryState, job: MemoryJob, now: number): void {
  const queue = queueOf(state, job.queue);
  const keyExpiresAt = ownKey(queue, job)?.expiresAt ?? null;
  if (keyExpiresAt === null) freeKey(state, queue, job);
  moveTo(state, job, null);
  state.jobs.delete(job.id);
  state.order.delete(job);
  const tombstone: Tombstone = {
    id: job.id,
    settledFence: job.settledFence,
    forgetAt: Math.max(now + state.remembersMs, keyExpiresAt ?? 0),
    slot: 0,
  };
  state.tombstones.set(job.id, tombstone);
  state.forgetting.push(tombstone);
}

/** What is still remembered of a deleted job. */
export function tombstoneOf(state: MemoryState, id: string, now: number): Tombstone | null {
  const tombstone = state.tombstones.get(id);
  return tombstone !== undefined && tombstone.forgetAt > now ? tombstone : null;
}

export function forget(state: MemoryState, tombstone: Tombstone): void {
  state.tombstones.delete(tombstone.id);
  state.forgetting.remove(tombstone);
}

function endLease(job: MemoryJob): void {
  job.leasedAt = null;
  job.leaseUntil = null;
  job.leaseSpent = 0;
  job.isUnstarted = false;
  job.cancelWhy = null;
}
