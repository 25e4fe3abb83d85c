/**
 * Jobs that this transaction has inserted and not yet written into their lines. A lease of the same
 * transaction takes them from here, so that a job which is started at once never stands in line: three
 * statements and a page fewer before its handler starts.
 *
 * It is the same as reading the table only if no other job of the queue is ready, and the queue's count
 * says whether that is so. They wait between an insert and the lease that follows it; whatever else looks
 * at `holdfast_ready` writes them first.
 */
import type { Connection } from "./connection.ts";
import type { Line } from "./line-book.ts";
import type { Queue } from "./queue-book.ts";
import type { ReadyRow } from "./ready-row.ts";

const ADD_READY = `
  INSERT INTO holdfast_ready (line, prio, seq, attempts, max_attempts, crashes, fence, settled_fence,
    run_at, flags) VALUES (?, ?, ?, 0, ?, 0, 0, 0, NULL, ?)`;

export interface FreshJob {
  readonly seq: number;
  readonly prio: number;
  readonly maxAttempts: number;
  readonly flags: number;
  readonly id: string;
  readonly type: string;
  readonly createdAt: number;
  readonly payload: string;
}

export class FreshJobs {
  readonly #db: Connection;
  readonly #byLine = new Map<Line, FreshJob[]>();
  #untaken = 0;

  constructor(db: Connection) {
    this.#db = db;
  }

  /** How many the transaction has inserted, without those that were taken from here. */
  get untaken(): number {
    return this.#untaken;
  }

  /** In the order of their numbers. */
  add(line: Line, job: FreshJob): void {
    this.#untaken++;
    const jobs = this.#byLine.get(line);
    if (jobs === undefined) this.#byLine.set(line, [job]);
    else jobs.push(job);
  }

  /** Is every ready job of this queue here? Also if it has none. */
  areAllOf(queue: Queue): boolean {
    let jobs = 0;
    for (const [line, fresh] of this.#byLine) if (line.queue === queue) jobs += fresh.length;
    return jobs === queue.counts.ready;
  }

  /** The first of a line, as the table would answer them. */
  first(line: Line, atMost: number): ReadyRow[] {
    const jobs = this.#byLine.get(line);
    if (jobs === undefined) return [];
    if (jobs.length > 1) jobs.sort((a, b) => a.prio - b.prio || a.seq - b.seq);
    return jobs.slice(0, atMost).map(rowOf);
  }

  /** So many that `first` has answered are the caller's now. */
  drop(line: Line, count: number): void {
    const jobs = this.#byLine.get(line);
    jobs?.splice(0, count);
    this.#untaken -= count;
    if (jobs?.length === 0) this.#byLine.delete(line);
  }

  /** Writes those that are still here into their lines. */
  flush(): void {
    if (this.#byLine.size === 0) return;
    const add = this.#db.silent(ADD_READY);
    for (const [{ line }, jobs] of this.#byLine) {
      for (const { seq, prio, maxAttempts, flags } of jobs) {
        add.get(line, prio, seq, maxAttempts, flags);
      }
    }
    this.#byLine.clear();
  }
}

function rowOf({
  seq,
  prio,
  maxAttempts,
  flags,
  id,
  type,
  createdAt,
  payload,
}: FreshJob): ReadyRow {
  return [seq, prio, 0, maxAttempts, 0, 0, null, flags, 0, id, type, createdAt, payload];
}
