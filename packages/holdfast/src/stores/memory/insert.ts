import type { NewJob } from "../../core/job.ts";
import type { InsertOptions, InsertResult } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import { keyHolder, takeKey } from "./keys.ts";
import { forget, tombstoneOf } from "./moves.ts";
import { placeInLine } from "./placement.ts";
import { queueOf, type MemoryJob, type MemoryQueue, type MemoryState } from "./state.ts";

export function insert(
  state: MemoryState,
  jobs: readonly NewJob[],
  options: InsertOptions = {},
): InsertResult[] {
  const now = state.clock.now();
  return jobs.map((job) => insertOne(state, job, { now, evenIfFull: options.evenIfFull ?? false }));
}

/** The order of the questions is part of the promise: id, then key, then room. */
export function insertOne(
  state: MemoryState,
  job: NewJob,
  { now, evenIfFull }: { readonly now: number; readonly evenIfFull: boolean },
): InsertResult {
  const refusal = refusalOf(state, job, now);
  if (refusal !== null) return refusal;
  const queue = queueOf(state, job.queue);
  const waiting = queue.ready + queue.delayed.size;
  if (!evenIfFull && queue.maxWaiting !== null && waiting >= queue.maxWaiting) {
    return { outcome: "full", maxWaiting: queue.maxWaiting };
  }
  const stored = newMemoryJob(state, job, now);
  addJob(state, stored, { queue, now });
  placeInLine(state, stored, now);
  return { outcome: "added", id: job.id };
}

/** Why a job of this id and key cannot be added; null if it can. */
export function refusalOf(
  state: MemoryState,
  { id, queue: queueName, dedupe }: Pick<NewJob, "id" | "queue" | "dedupe">,
  now: number,
): InsertResult | null {
  const same = state.jobs.get(id);
  if (same !== undefined) return { outcome: "duplicate", id, status: same.status };
  if (tombstoneOf(state, id, now) !== null) return { outcome: "duplicate", id, status: "pruned" };
  const queue = state.queues.get(queueName);
  if (dedupe === null || queue === undefined) return null;
  const holder = keyHolder(queue, dedupe.key, now);
  if (holder === null) return null;
  return {
    outcome: holder.hash === dedupe.hash ? "duplicate" : "conflict",
    id: holder.jobId,
    status: state.jobs.get(holder.jobId)?.status ?? "pruned",
  };
}

/** Lists the job and takes its key. Where it stands is for the caller to say. */
export function addJob(
  state: MemoryState,
  job: MemoryJob,
  { queue, now }: { readonly queue: MemoryQueue; readonly now: number },
): void {
  const forgotten = state.tombstones.get(job.id);
  if (forgotten !== undefined) forget(state, forgotten);
  state.jobs.set(job.id, job);
  state.order.add(job);
  takeKey(state, job, { queue, now });
}

function newMemoryJob(state: MemoryState, job: NewJob, now: number): MemoryJob {
  return {
    ...blankJob(state, now),
    id: job.id,
    queue: job.queue,
    group: job.group,
    type: job.type,
    payload: job.payload,
    priority: job.priority,
    runAt: job.runAt ?? instantAfter(now, job.delayMs),
    maxAttempts: job.maxAttempts,
    dedupe: job.dedupe === null ? null : { ...job.dedupe },
    tags: [...job.tags],
    meta: job.meta,
    trace: job.trace,
  };
}

/** A job that nothing has happened to yet. */
export function blankJob(
  state: MemoryState,
  now: number,
): Omit<MemoryJob, "id" | "queue" | "group" | "type" | "payload" | "priority" | "maxAttempts"> {
  return {
    seq: ++state.lastSeq,
    status: "queued",
    placement: null,
    slot: 0,
    deleted: false,
    attempts: 0,
    leaseSpent: 0,
    isUnstarted: false,
    updatesOrder: 0,
    crashes: 0,
    deferrals: 0,
    fence: 0,
    settledFence: null,
    cancelWhy: null,
    result: null,
    resultDropped: false,
    error: null,
    reason: null,
    by: null,
    progress: null,
    checkpoint: null,
    steps: [],
    logs: [],
    history: [],
    dedupe: null,
    tags: [],
    meta: null,
    trace: null,
    createdAt: now,
    updatedAt: now,
    runAt: now,
    startedAt: null,
    finishedAt: null,
    worker: null,
    leasedAt: null,
    leaseUntil: null,
  };
}
