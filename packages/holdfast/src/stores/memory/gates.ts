/**
 * What may keep a ready job back: holds and caps, of its queue and of its line. Nothing else does.
 */
import type { Hold } from "../../core/line.ts";
import type { MemoryLine, MemoryQueue } from "./state.ts";

/** When the last hold ends: null if there is none, Infinity if one has no end. */
export function heldUntil(holds: ReadonlyMap<string, Hold>, now: number): number | null {
  let latest: number | null = null;
  for (const hold of holds.values()) {
    const end = hold.until ?? Infinity;
    if (end > now) latest = Math.max(latest ?? 0, end);
  }
  return latest;
}

/** The holds that are in force. Those that ended stay in the map until they are swept. */
export function holdsInForce(holds: ReadonlyMap<string, Hold>, now: number): Hold[] {
  return [...holds.values()].filter((hold) => hold.until === null || hold.until > now);
}

/** Removes the holds that have ended. */
export function sweepHolds(holds: Map<string, Hold>, now: number): void {
  for (const hold of holds.values()) {
    if (hold.until !== null && hold.until <= now) holds.delete(hold.owner);
  }
}

export function isQueueFull(queue: MemoryQueue): boolean {
  return queue.maxActive !== null && queue.active >= queue.maxActive;
}

export function isLineFull(queue: MemoryQueue, line: MemoryLine): boolean {
  const cap = lineCap(queue, line);
  return cap !== null && line.active >= cap;
}

/** Is there any cap that this line's jobs count towards? */
export function capConcerns(queue: MemoryQueue, line: MemoryLine): boolean {
  return queue.maxActive !== null || lineCap(queue, line) !== null;
}

/** A line without a cap of its own has the queue's default, the line of jobs without a group too. */
function lineCap(queue: MemoryQueue, line: MemoryLine): number | null {
  return line.maxActive ?? queue.maxActivePerGroup;
}
