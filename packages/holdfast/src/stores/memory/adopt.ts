/**
 * Adopting keeps a job's past as it was elsewhere: attempts, fence, times, history. What stays behind
 * is its lease and with it the memory of its last settle; the fence still only grows from here.
 */
import { HISTORY_LENGTH, LOG_LENGTH, type AdoptedJob } from "../../core/job.ts";
import type { InsertResult } from "../../core/store.ts";
import { addJob, blankJob, refusalOf } from "./insert.ts";
import { moveTo, placeInLine } from "./placement.ts";
import { queueOf, type MemoryJob, type MemoryState } from "./state.ts";

export function adopt(state: MemoryState, jobs: readonly AdoptedJob[]): InsertResult[] {
  const now = state.clock.now();
  return jobs.map((job) => adoptOne(state, job, now));
}

function adoptOne(state: MemoryState, job: AdoptedJob, now: number): InsertResult {
  const refusal = refusalOf(state, job, now);
  if (refusal !== null) return refusal;
  const stored = adoptedMemoryJob(state, job, now);
  addJob(state, stored, { queue: queueOf(state, job.queue), now });
  if (job.status === "queued") placeInLine(state, stored, now);
  else moveTo(state, stored, job.status);
  return { outcome: "added", id: job.id };
}

function adoptedMemoryJob(state: MemoryState, job: AdoptedJob, now: number): MemoryJob {
  return {
    ...blankJob(state, now),
    id: job.id,
    queue: job.queue,
    group: job.group,
    type: job.type,
    status: job.status,
    priority: job.priority,
    payload: job.payload,
    result: job.result,
    attempts: job.attempts,
    maxAttempts: job.maxAttempts,
    crashes: job.crashes,
    fence: job.fence,
    error: job.error === null ? null : { ...job.error },
    reason: job.reason,
    checkpoint: job.checkpoint,
    steps: job.steps.map((step) => ({ ...step })),
    logs: job.logs.slice(-LOG_LENGTH).map((line) => ({ ...line })),
    history: job.history.slice(-HISTORY_LENGTH).map((record) => ({ ...record })),
    dedupe: job.dedupe === null ? null : { ...job.dedupe },
    tags: [...job.tags],
    meta: job.meta,
    trace: job.trace,
    createdAt: job.createdAt,
    runAt: job.runAt,
    startedAt: job.startedAt,
    finishedAt: job.status === "queued" ? null : (job.finishedAt ?? now),
  };
}
