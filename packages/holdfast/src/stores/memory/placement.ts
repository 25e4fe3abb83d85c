/**
 * Moves jobs between the places described in `state.ts`, and keeps everything that follows from a
 * place: the counts of queue and line, the ring, and the hints to sleeping workers.
 *
 * The caller first writes what the new place is ordered by (`runAt`, `leaseUntil`, `finishedAt`).
 */
import { WAKE_AHEAD_MS } from "../../core/line.ts";
import { isLineFull, isQueueFull } from "./gates.ts";
import type { Heap } from "./heap.ts";
import {
  lineOf,
  queueOf,
  type MemoryJob,
  type MemoryLine,
  type MemoryQueue,
  type MemoryState,
  type Placement,
} from "./state.ts";

/** Null takes the job out of every place: it is about to be deleted. */
export function moveTo(state: MemoryState, job: MemoryJob, next: Placement | null): void {
  const queue = queueOf(state, job.queue);
  const line = lineOf(queue, job.group);
  queue.usedAt = state.clock.last;
  if (job.placement !== null) leave(state, job, { queue, line, from: job.placement });
  job.placement = next;
  if (next !== null) enter(state, job, { queue, line, to: next });
  dropIfIdle(queue, line);
}

/** A queued job stands in its line once it is due, and among the delayed before. */
export function placeInLine(state: MemoryState, job: MemoryJob, now: number): void {
  moveTo(state, job, job.runAt <= now ? "ready" : "delayed");
  if (job.runAt <= now + WAKE_AHEAD_MS) state.wakeups.queue(job.queue);
}

/**
 * Lets due jobs into their lines, at most so many. Nobody can tell when it happens: their place was
 * fixed at the insert.
 */
export function moveDue(
  state: MemoryState,
  queue: MemoryQueue,
  { now, atMost = Infinity }: { readonly now: number; readonly atMost?: number },
): void {
  for (let moved = 0; moved < atMost; moved++) {
    const job = queue.delayed.peek();
    if (job === undefined || job.runAt > now) return;
    moveTo(state, job, "ready");
  }
}

/** Lines come and go with their jobs, or a million groups seen once would stay for ever. */
export function dropIfIdle(queue: MemoryQueue, line: MemoryLine): void {
  const hasJobs = line.ready.size > 0 || line.active > 0;
  const hasSettings = line.holds.size > 0 || line.maxActive !== null || line.weight !== null;
  if (!hasJobs && !hasSettings) queue.lines.delete(line.group);
}

function heapOf(
  state: MemoryState,
  { queue, line, placement }: { queue: MemoryQueue; line: MemoryLine; placement: Placement },
): Heap<MemoryJob> {
  switch (placement) {
    case "ready":
      return line.ready;
    case "delayed":
      return queue.delayed;
    case "processing":
      return state.leased;
    default:
      return queue.finished[placement];
  }
}

function enter(
  state: MemoryState,
  job: MemoryJob,
  { queue, line, to }: { queue: MemoryQueue; line: MemoryLine; to: Placement },
): void {
  heapOf(state, { queue, line, placement: to }).push(job);
  if (to === "ready") {
    queue.ready++;
    if (line.ready.size === 1) queue.ring.add(line);
  } else if (to === "processing") {
    queue.active++;
    line.active++;
  }
}

function leave(
  state: MemoryState,
  job: MemoryJob,
  { queue, line, from }: { queue: MemoryQueue; line: MemoryLine; from: Placement },
): void {
  heapOf(state, { queue, line, placement: from }).remove(job);
  if (from === "ready") {
    queue.ready--;
    if (line.ready.size === 0) queue.ring.remove(line);
  } else if (from === "processing") {
    const wasFull = isQueueFull(queue) || isLineFull(queue, line);
    queue.active--;
    line.active--;
    if (wasFull && queue.ready > 0) state.wakeups.queue(queue.name);
  }
}
