/**
 * Placement: moves a job into the table of its place (see `schema.ts`) and keeps what follows from a
 * place: the counts of the queue, the state of the line, and the hints to sleeping workers.
 */
import { WAKE_AHEAD_MS } from "../../core/line.ts";
import type { FinishedStatus } from "../../core/job.ts";
import { addDue } from "./due-jobs.ts";
import { freeKey, UNTIL_FINISHED } from "./keys.ts";
import type { Line } from "./line-book.ts";
import type { Queue } from "./queue-book.ts";
import { STATUS_CODES } from "./status-codes.ts";
import type { Transaction } from "./transaction.ts";
import { addUnhappy } from "./unhappy.ts";

/** Bits of `flags`. */
export const HAS_PAST = 1; // There may be rows in details, step, log or attempt.
export const HAS_KEY = 2; // The body names an idempotency key.
export const HAS_EXTRAS = 4; // The body has tags, metadata or a trace.
export const IS_LARGE = 8; // The payload is longer than a lease reads unasked.

/** What a full lease of these comes to is still little. */
const LARGE_LENGTH = 4_096;

/** The bit of `flags` that goes with a payload. */
export function sizeFlag(payload: string): number {
  return payload.length > LARGE_LENGTH ? IS_LARGE : 0;
}

/** What a job carries from place to place. */
export interface Moving {
  readonly seq: number;
  readonly prio: number;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly crashes: number;
  readonly fence: number;
  /** Of the last settle, so that a repeat is known; 0 before the first. */
  readonly settledFence: number;
  /** Null: it was due when it was created. */
  readonly runAt: number | null;
  readonly flags: number;
}

/** How an attempt ended for good. */
export interface Finish {
  readonly as: FinishedStatus;
  readonly startedAt: number | null;
  /** The number of the last worker. */
  readonly w: number | null;
  readonly result: string | null;
  readonly resultDropped: boolean;
  /** Absent: now. */
  readonly finishedAt?: number;
}

const ADD_READY = `
  INSERT INTO holdfast_ready (line, prio, seq, attempts, max_attempts, crashes, fence, settled_fence,
    run_at, flags) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const ADD_LATER = `
  INSERT INTO holdfast_later (seq, q, run_at, attempts, max_attempts, crashes, fence, settled_fence,
    flags) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const ADD_DONE = `
  INSERT INTO holdfast_done (q, status, finished_at, seq, attempts, max_attempts, crashes, fence,
    settled_fence, run_at, flags, took, w, result_dropped, result)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const DUE = `
  SELECT a.seq, j.grp, j.prio, a.attempts, a.max_attempts, a.crashes, a.fence, a.settled_fence,
    a.run_at, a.flags
  FROM holdfast_later a INDEXED BY holdfast_later_due CROSS JOIN holdfast_job j ON j.seq = a.seq
  WHERE a.q = ? AND a.run_at <= ? ORDER BY a.run_at, a.seq LIMIT ? + 0`;
const DROP_LATER = "DELETE FROM holdfast_later WHERE seq = ?";
const KEY_OF = "SELECT key, key_life, id FROM holdfast_job WHERE seq = ?";

type DueRow = [number, string, number, number, number, number, number, number, number, number];

/** A queued job stands in its line once it is due, and among the delayed before. */
export function standInLine(tx: Transaction, queue: Queue, group: string, job: Moving): void {
  const { seq, prio, attempts, maxAttempts, crashes, fence, settledFence, runAt, flags } = job;
  const state = [attempts, maxAttempts, crashes, fence, settledFence] as const;
  if (attempts > 0) queue.add("retrying", 1);
  if (runAt !== null && runAt > tx.now) {
    tx.db.run(ADD_LATER, seq, queue.q, runAt, ...state, flags);
    queue.add("delayed", 1);
    if (runAt <= tx.now + WAKE_AHEAD_MS) tx.dueSoonQueues.add(queue.name);
    return;
  }
  const line = tx.lines.findOrAdd(queue, group);
  tx.db.run(ADD_READY, line.line, prio, seq, ...state, runAt, flags);
  addDue(tx, line, job);
  queue.add("ready", 1);
  tx.lines.gotReady(line);
  tx.wokenQueues.add(queue.name);
}

/**
 * Lets due jobs into their lines, at most so many; answers how many. Nobody can tell when it happens:
 * their place was fixed at the insert.
 */
export function moveDue(tx: Transaction, queue: Queue, atMost: number): number {
  if (queue.counts.delayed === 0) return 0;
  const due = tx.db.rows<DueRow>(DUE).all(queue.q, tx.now, atMost);
  for (const [seq, group, prio, ...rest] of due) {
    const [attempts, maxAttempts, crashes, fence, settledFence, runAt, flags] = rest;
    const line = tx.lines.findOrAdd(queue, group);
    const state = [attempts, maxAttempts, crashes, fence, settledFence] as const;
    tx.db.run(DROP_LATER, seq);
    tx.db.run(ADD_READY, line.line, prio, seq, ...state, runAt, flags);
    addDue(tx, line, { seq, runAt, attempts });
    tx.lines.gotReady(line);
  }
  if (due.length === 0) return 0;
  queue.add("delayed", -due.length);
  queue.add("ready", due.length);
  return due.length;
}

/** Stores the end. The caller has taken the job out of the place where it stood. */
export function standFinished(tx: Transaction, queue: Queue, job: Moving, finish: Finish): void {
  const { seq, attempts, maxAttempts, crashes, fence, settledFence, runAt, flags } = job;
  const { as, startedAt, w, result, resultDropped, finishedAt = tx.now } = finish;
  const took = startedAt === null ? null : finishedAt - startedAt;
  const settled = settledFence === fence ? null : settledFence;
  tx.db.run(
    ADD_DONE,
    ...[queue.q, STATUS_CODES[as], finishedAt, seq, attempts, maxAttempts, crashes, fence],
    ...[settled, runAt, flags, took, w, resultDropped ? 1 : 0, result],
  );
  queue.add(as, 1);
  if (as !== "succeeded") {
    addUnhappy(tx, { seq, as, finishedAt, hasExtras: (flags & HAS_EXTRAS) !== 0 });
  }
  freeKeyUntilFinished(tx, queue, job);
}

/** Also for a job that finishes and is not kept. */
export function freeKeyUntilFinished(tx: Transaction, queue: Queue, job: Moving): void {
  if ((job.flags & HAS_KEY) === 0) return;
  const row = tx.db.rows<[string, number, string]>(KEY_OF).get(job.seq);
  if (row === undefined) return;
  const [key, life, id] = row;
  if (life === UNTIL_FINISHED) freeKey(tx, queue, { key, id });
}

/** A lease of this line ended. A capped one makes room, and somebody may wait for it. */
export function endLease(
  tx: Transaction,
  queue: Queue,
  { line, isCapped }: { readonly line: () => Line; readonly isCapped: boolean },
): void {
  const wasQueueFull = queue.isFull;
  queue.add("processing", -1);
  let wasLineFull = false;
  if (isCapped) {
    const held = line();
    wasLineFull = held.room === 0;
    tx.lines.set(held, { active: held.active - 1 });
    if (wasLineFull) tx.lines.settleState(held, tx.now);
  }
  if ((wasQueueFull || wasLineFull) && queue.counts.ready > 0) tx.wokenQueues.add(queue.name);
}
