/**
 * Adopting keeps a job's past as it was elsewhere: attempts, fence, times, history. What stays behind
 * is its lease and with it the memory of its last settle; the fence still only grows from here.
 */
import { isFinished, type AdoptedJob } from "../../core/job.ts";
import type { InsertResult } from "../../core/store.ts";
import { addBody, flagsOf, refusalOf } from "./insert.ts";
import type { Queue } from "./queue-book.ts";
import { HAS_PAST, standFinished, standInLine, type Moving } from "./placement.ts";
import { addAttempt, addLogs, errorColumns, noteDetails, takeAlong } from "./job-details.ts";
import type { Transaction } from "./transaction.ts";

export function adopt(tx: Transaction, jobs: readonly AdoptedJob[]): InsertResult[] {
  return jobs.map((job) => adoptOne(tx, job));
}

function adoptOne(tx: Transaction, job: AdoptedJob): InsertResult {
  const refusal = refusalOf(tx, tx.queues.find(job.queue), job);
  if (refusal !== null) return refusal;
  const queue = tx.queues.findOrAdd(job.queue);
  const createdAt = Math.floor(job.createdAt);
  const seq = addBody(tx, queue, job, { createdAt, isFinished: isFinished(job.status) });
  if (seq === null) throw new Error("an id that was free is taken");
  adoptPast(tx, seq, job);
  stand(tx, queue, job, {
    seq,
    prio: job.priority,
    attempts: job.attempts,
    maxAttempts: job.maxAttempts,
    crashes: job.crashes,
    fence: job.fence,
    settledFence: 0,
    runAt: Math.ceil(job.runAt),
    flags: HAS_PAST | flagsOf(job),
  });
  return { outcome: "added", id: job.id };
}

/** Always a row of its own: when it was adopted is its last change. */
function adoptPast(tx: Transaction, seq: number, job: AdoptedJob): void {
  const { checkpoint, reason, logs, steps, result } = job;
  const started_at = job.startedAt;
  noteDetails(tx, seq, { ...errorColumns(job.error), started_at, checkpoint, reason, result });
  takeAlong(tx, seq, { steps });
  const texts = logs.map((line) => line.text);
  addLogs(tx, seq, texts, (index) => Math.floor(logs[index]?.at ?? tx.now));
  for (const record of job.history) addAttempt(tx, seq, record);
}

function stand(tx: Transaction, queue: Queue, job: AdoptedJob, moving: Moving): void {
  if (job.status === "queued") {
    standInLine(tx, queue, job.group, moving);
    return;
  }
  const { startedAt, status: as } = job;
  const finishedAt = Math.floor(job.finishedAt ?? tx.now);
  const finish = { as, startedAt, w: null, result: null, resultDropped: false, finishedAt };
  standFinished(tx, queue, moving, finish);
}
