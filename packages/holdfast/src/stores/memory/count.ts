import { COUNTED_TO } from "../../core/line.ts";
import type { DeadCount, DeadCountRequest, DeadKey, QueueCounts } from "../../core/store.ts";
import { moveDue } from "./placement.ts";
import type { MemoryJob, MemoryQueue, MemoryState } from "./state.ts";

export function count(state: MemoryState): QueueCounts[] {
  const now = state.clock.now();
  const counts = [...state.queues.values()].map((queue): QueueCounts => {
    moveDue(state, queue, { now });
    return {
      queue: queue.name,
      ready: queue.ready,
      delayed: queue.delayed.size,
      processing: queue.active,
      succeeded: queue.finished.succeeded.size,
      dead: queue.finished.dead.size,
      cancelled: queue.finished.cancelled.size,
      ...waitingOf(queue),
    };
  });
  return counts.sort((a, b) => (a.queue < b.queue ? -1 : 1));
}

/** Walks all that wait: a database keeps an index for it. */
function waitingOf(queue: MemoryQueue): Pick<QueueCounts, "retrying" | "oldestReadyAt"> {
  let retrying = 0;
  let oldestReadyAt: number | null = null;
  for (const job of queue.delayed) if (job.attempts > 0) retrying++;
  for (const { ready } of queue.lines.values()) {
    for (const job of ready) {
      if (job.attempts > 0) retrying++;
      if (oldestReadyAt === null || job.runAt < oldestReadyAt) oldestReadyAt = job.runAt;
    }
  }
  return { retrying: Math.min(retrying, COUNTED_TO), oldestReadyAt };
}

export function countDead(state: MemoryState, { by, queue, limit }: DeadCountRequest): DeadCount[] {
  const counts = new Map<string | null, DeadCount>();
  for (const { name, finished } of state.queues.values()) {
    if (queue !== undefined && name !== queue) continue;
    for (const job of finished.dead) {
      const key = keyOf(job, by);
      counts.set(key, withOneMore(counts.get(key), key, job));
    }
  }
  return [...counts.values()]
    .map((one) => ({ ...one, count: Math.min(one.count, COUNTED_TO) }))
    .sort((a, b) => b.count - a.count || ((a.key ?? "") < (b.key ?? "") ? -1 : 1))
    .slice(0, limit);
}

function keyOf(job: MemoryJob, by: DeadKey): string | null {
  if (by === "fingerprint" || by === "category") return job.error?.[by] ?? null;
  return job[by];
}

function withOneMore(
  counted: DeadCount | undefined,
  key: string | null,
  { id, finishedAt }: MemoryJob,
): DeadCount {
  const at = finishedAt ?? 0;
  if (counted === undefined) return { key, count: 1, firstAt: at, lastAt: at, example: id };
  return {
    key,
    count: counted.count + 1,
    firstAt: Math.min(counted.firstAt, at),
    lastAt: Math.max(counted.lastAt, at),
    example: at >= counted.lastAt ? id : counted.example,
  };
}
