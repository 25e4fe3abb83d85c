/** The queues a transaction knows (see `known.ts`), with their counts: one write per transaction. */
import type { FinishedStatus } from "../../core/job.ts";
import type { Connection } from "./connection.ts";
import type { Line } from "./line-book.ts";

/** `retrying`: of the ready and the delayed ones. */
export type Counted = "ready" | "delayed" | "retrying" | "processing" | FinishedStatus;

/** The end of a hold without an end. */
export const FOREVER = Number.MAX_SAFE_INTEGER;

const COLUMNS = `q, name, held_until, max_active, max_active_per_group, max_waiting, turn_line,
  turn_left, ready, delayed, processing, succeeded, dead, cancelled, retrying`;
const BY_NAME = `SELECT ${COLUMNS} FROM holdfast_queue WHERE name = ?`;
const BY_NUMBER = `SELECT ${COLUMNS} FROM holdfast_queue WHERE q = ?`;
const ADD = "INSERT INTO holdfast_queue (name) VALUES (?)";
const WRITE = `UPDATE holdfast_queue SET used_at = ?, turn_line = ?, turn_left = ?, ready = ?,
  delayed = ?, processing = ?, succeeded = ?, dead = ?, cancelled = ?, retrying = ? WHERE q = ?`;

type QueueRow = [
  q: number,
  name: string,
  heldUntil: number,
  maxActive: number | null,
  maxActivePerGroup: number | null,
  maxWaiting: number | null,
  turnLine: number,
  turnLeft: number,
  ...counts: [number, number, number, number, number, number, number],
];

export class Queue {
  readonly q: number;
  readonly name: string;
  heldUntil: number;
  maxActive: number | null;
  maxActivePerGroup: number | null;
  maxWaiting: number | null;
  turnLine: number;
  turnLeft: number;
  readonly counts: Record<Counted, number>;
  /** The lines of it that this transaction has read, by group. */
  readonly lines = new Map<string, Line>();
  /** Its only open line. Null: there are more or none, or nobody knows. */
  onlyOpenLine: Line | null = null;
  /** When the first hold of a line ends. Null: nobody knows. */
  firstHoldEndsAt: number | null = null;
  isDirty = false;

  constructor(row: QueueRow) {
    [this.q, this.name, this.heldUntil, this.maxActive] = row;
    [, , , , this.maxActivePerGroup, this.maxWaiting, this.turnLine, this.turnLeft] = row;
    const [, , , , , , , , ready, delayed, processing, succeeded, dead, cancelled, retrying] = row;
    this.counts = { ready, delayed, processing, succeeded, dead, cancelled, retrying };
  }

  add(what: Counted, jobs: number): void {
    this.counts[what] += jobs;
    this.isDirty = true;
  }

  /** Lines opened or closed, or their holds changed: what was known of them together is over. */
  linesChanged(): void {
    this.onlyOpenLine = null;
    this.firstHoldEndsAt = null;
  }

  /** Whose turn it is, and how much of it is left. */
  setTurn(line: number, left: number): void {
    if (this.turnLine === line && this.turnLeft === left) return;
    this.turnLine = line;
    this.turnLeft = left;
    this.isDirty = true;
  }

  get isFull(): boolean {
    return this.maxActive !== null && this.counts.processing >= this.maxActive;
  }
}

export class QueueBook {
  readonly #db: Connection;
  readonly #byName = new Map<string, Queue>();
  readonly #byNumber = new Map<number, Queue>();

  constructor(db: Connection) {
    this.#db = db;
  }

  find(name: string): Queue | null {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const row = this.#db.rows<QueueRow>(BY_NAME).get(name);
    return row === undefined ? null : this.#keep(row);
  }

  /** A queue exists from its first job or setting on, until `sweep.ts` finds it of no use. */
  findOrAdd(name: string): Queue {
    const known = this.find(name);
    if (known !== null) return known;
    this.#db.run(ADD, name);
    const added = this.find(name) as Queue;
    // Its hour begins now.
    added.isDirty = true;
    return added;
  }

  byNumber(q: number): Queue {
    const known = this.#byNumber.get(q);
    if (known !== undefined) return known;
    const row = this.#db.rows<QueueRow>(BY_NUMBER).get(q);
    if (row === undefined) throw new Error(`queue number ${q} is not in the database`);
    return this.#keep(row);
  }

  /** They were deleted. */
  forget(numbers: readonly number[]): void {
    for (const number of numbers) {
      this.#byName.delete(this.#byNumber.get(number)?.name ?? "");
      this.#byNumber.delete(number);
    }
  }

  flush(now: number): void {
    for (const queue of this.#byNumber.values()) {
      if (!queue.isDirty) continue;
      const { ready, delayed, processing, succeeded, dead, cancelled, retrying } = queue.counts;
      const counts = [ready, delayed, processing, succeeded, dead, cancelled, retrying];
      this.#db.run(WRITE, now, queue.turnLine, queue.turnLeft, ...counts, queue.q);
      queue.isDirty = false;
    }
  }

  #keep(row: QueueRow): Queue {
    const queue = new Queue(row);
    this.#byName.set(queue.name, queue);
    this.#byNumber.set(queue.q, queue);
    return queue;
  }
}
