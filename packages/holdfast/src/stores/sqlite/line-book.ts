/**
 * The lines a transaction knows (see `known.ts`), read once each and written back once.
 *
 * The state of a line says whether `lease` looks at it:
 *
 *     idle ──a job becomes ready──▶ open ──found empty by a lease──▶ idle
 *     open ──its cap is reached──▶ full ──a capped lease ends──▶ open or idle
 *     any ──hold──▶ held ──the last hold ends or is released──▶ open, full or idle
 *
 * `idle` is certain: a line with a ready job is never idle. `open` is not: whoever finds it empty
 * makes it idle, unless it is the only open one. So an insert touches a line only when it is idle, and a settle only when capped.
 */
import type { Connection } from "./connection.ts";
import type { SqlValue } from "./database-like.ts";
import type { Queue, QueueBook } from "./queue-book.ts";

export const IDLE = 0;
export const OPEN = 1;
export const HELD = 2;
export const FULL = 3;
export type LineCondition = typeof IDLE | typeof OPEN | typeof HELD | typeof FULL;

const COLUMNS = "line, q, grp, state, weight, max_active, active, held_until";
const BY_GROUP = `SELECT ${COLUMNS} FROM holdfast_line WHERE q = ? AND grp = ?`;
const BY_NUMBER = `SELECT ${COLUMNS} FROM holdfast_line WHERE line = ?`;
const ADD = "INSERT INTO holdfast_line (line, q, grp, state) VALUES (?, ?, ?, 0)";
const WRITE = `UPDATE holdfast_line SET state = ?, weight = ?, max_active = ?, active = ?,
  held_until = ? WHERE line = ?`;
const HAS_READY = "SELECT 1 FROM holdfast_ready WHERE line = ? LIMIT 1";

/** A question about the open lines of a queue, asked of those that have no caps of their own. */
export function onlyFree(sql: string): string {
  return sql
    .replace("holdfast_line_open", "holdfast_line_free")
    .replace("state = 1", "state = 1 AND max_active IS NULL");
}

export type LineRow = [
  line: number,
  q: number,
  group: string,
  state: LineCondition,
  weight: number | null,
  maxActive: number | null,
  active: number,
  heldUntil: number,
];

export class Line {
  readonly line: number;
  readonly queue: Queue;
  readonly group: string;
  state: LineCondition;
  weight: number | null;
  maxActive: number | null;
  active: number;
  heldUntil: number;
  isDirty = false;

  constructor(row: LineRow, queue: Queue) {
    this.queue = queue;
    this.line = row[0];
    this.group = row[2];
    this.state = row[3];
    this.weight = row[4];
    this.maxActive = row[5];
    this.active = row[6];
    this.heldUntil = row[7];
  }

  /** Null: it may have any number of leases at once. */
  get cap(): number | null {
    return this.maxActive ?? this.queue.maxActivePerGroup;
  }

  /** Is there any cap that its jobs count towards? */
  get isCapped(): boolean {
    return this.queue.maxActive !== null || this.cap !== null;
  }

  /** How many more leases it may have. */
  get room(): number {
    return this.cap === null ? Infinity : Math.max(0, this.cap - this.active);
  }
}

export class LineBook {
  readonly #db: Connection;
  readonly #queues: QueueBook;
  readonly #nextNumber: () => number;
  readonly #byNumber = new Map<number, Line>();
  readonly #dirty: Line[] = [];

  constructor(db: Connection, queues: QueueBook, nextNumber: () => number) {
    this.#db = db;
    this.#queues = queues;
    this.#nextNumber = nextNumber;
  }

  get size(): number {
    return this.#byNumber.size;
  }

  find(queue: Queue, group: string): Line | null {
    const known = queue.lines.get(group);
    if (known !== undefined) return known;
    const row = this.#db.rows<LineRow>(BY_GROUP).get(queue.q, group);
    return row === undefined ? null : this.keep(row);
  }

  /** Lines are numbered by the store's one counter: a number is never given to a second line. */
  findOrAdd(queue: Queue, group: string): Line {
    const known = this.find(queue, group);
    if (known !== null) return known;
    const number = this.#nextNumber();
    this.#db.run(ADD, number, queue.q, group);
    return this.keep([number, queue.q, group, IDLE, null, null, 0, 0]);
  }

  byNumber(number: number): Line {
    const known = this.#byNumber.get(number);
    if (known !== undefined) return known;
    const row = this.#db.rows<LineRow>(BY_NUMBER).get(number);
    if (row === undefined) throw new Error(`line number ${number} is not in the database`);
    return this.keep(row);
  }

  /** A row somebody else has read; what this transaction already knows of the line is newer. */
  keep(row: LineRow): Line {
    const known = this.#byNumber.get(row[0]);
    if (known !== undefined) return known;
    const line = new Line(row, this.#queues.byNumber(row[1]));
    this.#byNumber.set(line.line, line);
    line.queue.lines.set(line.group, line);
    return line;
  }

  set(line: Line, change: Partial<Pick<Line, "state" | "active" | "heldUntil">>): void {
    if (change.state !== undefined || change.heldUntil !== undefined) line.queue.linesChanged();
    Object.assign(line, change);
    this.touch(line);
  }

  touch(line: Line): void {
    if (line.isDirty) return;
    line.isDirty = true;
    this.#dirty.push(line);
  }

  /** A job has become ready in it. */
  gotReady(line: Line): void {
    if (line.state === IDLE) this.set(line, { state: line.room === 0 ? FULL : OPEN });
  }

  /** Makes the state follow from everything else; after a hold, a cap or a count has changed. */
  settleState(line: Line, now: number): void {
    const state = this.#stateOf(line, now);
    if (state !== line.state) this.set(line, { state });
  }

  #stateOf(line: Line, now: number): LineCondition {
    if (line.heldUntil > now) return HELD;
    if (line.room === 0) return FULL;
    return this.#db.value(HAS_READY, line.line) === undefined ? IDLE : OPEN;
  }

  /** Deletes lines, and forgets what is known of all: one of the deleted may be among them. */
  sweep(sql: string, ...values: SqlValue[]): number {
    this.flush();
    const swept = this.#db.run(sql, ...values);
    if (swept === 0) return swept;
    for (const line of this.#byNumber.values()) {
      line.queue.lines.delete(line.group);
      line.queue.linesChanged();
    }
    this.#byNumber.clear();
    return swept;
  }

  /** Also before the ring is read, which sees only what is written. */
  flush(): void {
    for (const line of this.#dirty) {
      const { state, weight, maxActive, active, heldUntil } = line;
      this.#db.run(WRITE, state, weight, maxActive, active, heldUntil, line.line);
      line.isDirty = false;
    }
    this.#dirty.length = 0;
  }
}
