/**
 * Idempotency keys. A key belongs to one job of its queue for a lifetime:
 *
 * - `kept`: as long as the job is kept, finished or not.
 * - `until-finished`: until the job finishes; a revived job takes it again if it is free.
 * - a time, from the insert: also when the job has been pruned meanwhile, and not a moment longer,
 *   even if the job still waits.
 *
 * A key is freed only by the job it belongs to: the first holder of a key that expired must not free
 * it for the second.
 */
import { isFinished } from "../../core/job.ts";
import { instantAfter } from "./clock.ts";
import type { MemoryJob, MemoryQueue, MemoryState, TakenKey } from "./state.ts";

/** Whose key it is now, if anybody's. */
export function keyHolder(queue: MemoryQueue, key: string, now: number): TakenKey | null {
  const taken = queue.keys.get(key);
  if (taken === undefined) return null;
  return taken.expiresAt === null || taken.expiresAt > now ? taken : null;
}

/** Takes the job's key if its lifetime has a rest and nobody else has it. */
export function takeKey(
  state: MemoryState,
  job: MemoryJob,
  { queue, now }: { readonly queue: MemoryQueue; readonly now: number },
): void {
  if (job.dedupe === null) return;
  const { key, hash, lifetime } = job.dedupe;
  if (lifetime === "until-finished" && isFinished(job.status)) return;
  const expiresAt =
    typeof lifetime === "object" ? instantAfter(job.createdAt, lifetime.ttlMs) : null;
  if (expiresAt !== null && expiresAt <= now) return;
  if (keyHolder(queue, key, now) !== null) return;
  forgetKey(state, queue, queue.keys.get(key));
  const taken: TakenKey = { queue: queue.name, key, jobId: job.id, hash, expiresAt, slot: 0 };
  queue.keys.set(key, taken);
  if (expiresAt !== null) state.expiringKeys.push(taken);
}

/** The job's own key, or null if it has none, or another job has it by now. */
export function ownKey(queue: MemoryQueue, job: MemoryJob): TakenKey | null {
  const taken = job.dedupe === null ? undefined : queue.keys.get(job.dedupe.key);
  return taken?.jobId === job.id ? taken : null;
}

export function freeKey(state: MemoryState, queue: MemoryQueue, job: MemoryJob): void {
  forgetKey(state, queue, ownKey(queue, job));
}

/** Sweeps what has expired. It blocked nobody any more. */
export function sweepKeys(state: MemoryState, now: number): void {
  for (let key = state.expiringKeys.peek(); key !== undefined; key = state.expiringKeys.peek()) {
    if (key.expiresAt !== null && key.expiresAt > now) return;
    forgetKey(state, state.queues.get(key.queue), key);
  }
}

function forgetKey(
  state: MemoryState,
  queue: MemoryQueue | undefined,
  taken: TakenKey | null | undefined,
): void {
  if (taken === null || taken === undefined) return;
  if (taken.expiresAt !== null) state.expiringKeys.remove(taken);
  queue?.keys.delete(taken.key);
}
