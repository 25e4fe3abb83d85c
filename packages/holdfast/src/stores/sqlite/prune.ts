/**
 * Retention. Only finished jobs are looked at, so work that has not run cannot be touched. Of all jobs
 * that are past a policy the one that finished first goes first: with a limit, a busy queue cannot
 * keep the others from being pruned.
 *
 * It is also the moment at which what has expired is swept. Nobody saw it any more: every reader
 * checks the time itself.
 */
import { FINISHED_STATUSES, type FinishedStatus } from "../../core/job.ts";
import type { Retention } from "../../core/store.ts";
import type { Connection } from "./connection.ts";
import { STATUS_CODES } from "./placement.ts";
import { bury } from "./tombstones.ts";
import type { Transaction } from "./transaction.ts";

/** Rows read ahead of each queue and status. */
const READ_AHEAD = 100;
/** Swept per call, of each kind. */
const SWEEP_AT_MOST = 1_000;
/** Lines that nobody stands in are swept only when there are so many: most groups come again. */
const KEEP_LINES = 10_000;

const QUEUES = "SELECT q, name, succeeded, dead, cancelled FROM holdfast_queue";
const OLDEST = `
  SELECT d.finished_at, d.seq FROM holdfast_done d
  WHERE d.q = ? AND d.status = ? AND (d.finished_at, d.seq) > (?, ?)
  ORDER BY d.finished_at, d.seq LIMIT ${READ_AHEAD}`;
const VICTIM = `
  SELECT j.id, coalesce(d.settled_fence, d.fence), d.flags FROM holdfast_done d
  CROSS JOIN holdfast_job j ON j.seq = d.seq WHERE d.seq = ?`;
const DROP_DONE = "DELETE FROM holdfast_done WHERE seq = ?";

const EXPIRED = [
  "SELECT 1 FROM holdfast_gone WHERE forget_at <= ? LIMIT 1",
  "SELECT 1 FROM holdfast_key WHERE expires_at <= ? LIMIT 1",
  "SELECT 1 FROM holdfast_record WHERE expires_at <= ? LIMIT 1",
  "SELECT 1 FROM holdfast_hold WHERE until <= ? LIMIT 1",
  "SELECT 1 FROM holdfast_disowned WHERE forget_at <= ? LIMIT 1",
];
const SWEEP = [
  `DELETE FROM holdfast_gone WHERE id IN (
    SELECT id FROM holdfast_gone WHERE forget_at <= ? LIMIT ${SWEEP_AT_MOST})`,
  `DELETE FROM holdfast_key WHERE (q, key) IN (
    SELECT q, key FROM holdfast_key WHERE expires_at <= ? LIMIT ${SWEEP_AT_MOST})`,
  `DELETE FROM holdfast_record WHERE key IN (
    SELECT key FROM holdfast_record WHERE expires_at <= ? LIMIT ${SWEEP_AT_MOST})`,
  "DELETE FROM holdfast_hold WHERE until <= ?",
  "DELETE FROM holdfast_disowned WHERE forget_at <= ?",
];
const HAS_MANY_LINES = `SELECT 1 FROM holdfast_line LIMIT 1 OFFSET ${KEEP_LINES}`;
const SWEEP_LINES = `
  DELETE FROM holdfast_line WHERE line IN (
    SELECT line FROM holdfast_line n
    WHERE state = 0 AND weight IS NULL AND max_active IS NULL AND active = 0
      AND NOT EXISTS (SELECT 1 FROM holdfast_hold h WHERE h.q = n.q AND h.line = n.line)
      AND line NOT IN (SELECT line FROM holdfast_leased)
    LIMIT ${SWEEP_AT_MOST})`;

/** Looks without the write lock: mostly there is nothing to do. */
export function isPruneDue(db: Connection, policies: readonly Retention[], now: number): boolean {
  return (
    shelvesOf(db, policies, now).some((shelf) => shelf.head() !== null) ||
    EXPIRED.some((sql) => db.value(sql, now) !== undefined) ||
    db.value(HAS_MANY_LINES) !== undefined
  );
}

export function prune(tx: Transaction, policies: readonly Retention[], limit: number): number {
  // Counts of this transaction's own moves are not written yet.
  tx.flush();
  const shelves = limit > 0 ? shelvesOf(tx.db, policies, tx.now) : [];
  let pruned = 0;
  for (; pruned < limit; pruned++) {
    const shelf = oldestOf(shelves);
    const seq = shelf?.take() ?? null;
    if (shelf === null || seq === null) break;
    deleteFinished(tx, shelf, seq);
  }
  sweep(tx);
  return pruned;
}

function deleteFinished(tx: Transaction, { q, status }: Shelf, seq: number): void {
  const row = tx.db.rows<[string, number, number]>(VICTIM).get(seq);
  if (row === undefined) throw new Error("a finished job has lost its body");
  const [id, settledFence, flags] = row;
  const queue = tx.queues.byNumber(q);
  tx.db.run(DROP_DONE, seq);
  queue.add(status, -1);
  bury(tx, queue, { seq, id, settledFence, flags });
}

function sweep(tx: Transaction): void {
  for (const sql of SWEEP) tx.db.run(sql, tx.now);
  if (tx.db.value(HAS_MANY_LINES) !== undefined) tx.lines.sweep(SWEEP_LINES);
}

interface Victim {
  readonly finishedAt: number;
  readonly seq: number;
}

/** The finished jobs of one queue and status, the oldest first, with the policies for them. */
class Shelf {
  readonly q: number;
  readonly status: FinishedStatus;
  readonly #db: Connection;
  readonly #policies: readonly Retention[];
  readonly #now: number;
  #count: number;
  #ahead: Victim[] = [];
  #last: Victim = { finishedAt: -Infinity, seq: 0 };
  #isAtEnd = false;

  constructor(
    db: Connection,
    of: { readonly q: number; readonly status: FinishedStatus; readonly count: number },
    how: { readonly policies: readonly Retention[]; readonly now: number },
  ) {
    this.#db = db;
    this.q = of.q;
    this.status = of.status;
    this.#count = of.count;
    this.#policies = how.policies;
    this.#now = how.now;
  }

  /** The oldest, if it is past a policy. */
  head(): Victim | null {
    if (this.#ahead.length === 0) this.#readAhead();
    const [oldest] = this.#ahead;
    return oldest !== undefined && this.#isPast(oldest) ? oldest : null;
  }

  take(): number | null {
    const head = this.head();
    if (head === null) return null;
    this.#ahead.shift();
    this.#count--;
    return head.seq;
  }

  #isPast({ finishedAt }: Victim): boolean {
    return this.#policies.some(({ olderThanMs, keep }) => {
      const isTooOld = olderThanMs !== null && this.#now - finishedAt >= olderThanMs;
      return isTooOld || (keep !== null && this.#count > keep);
    });
  }

  #readAhead(): void {
    if (this.#isAtEnd) return;
    const { finishedAt, seq } = this.#last;
    const from = finishedAt === -Infinity ? Number.MIN_SAFE_INTEGER : finishedAt;
    const rows = this.#db
      .rows<[number, number]>(OLDEST)
      .all(this.q, STATUS_CODES[this.status], from, seq);
    this.#ahead = rows.map(([finished, number]) => ({ finishedAt: finished, seq: number }));
    this.#last = this.#ahead.at(-1) ?? this.#last;
    this.#isAtEnd = rows.length < READ_AHEAD;
  }
}

/** One for each queue and status that has a policy: its own, or else those for all queues. */
function shelvesOf(db: Connection, policies: readonly Retention[], now: number): Shelf[] {
  const bounding = policies.filter(
    ({ olderThanMs, keep }) => olderThanMs !== null || keep !== null,
  );
  if (bounding.length === 0) return [];
  type Row = [q: number, name: string, succeeded: number, dead: number, cancelled: number];
  return db
    .rows<Row>(QUEUES)
    .all()
    .flatMap(([q, name, ...numbers]) =>
      FINISHED_STATUSES.flatMap((status, index) => {
        const count = numbers[index] ?? 0;
        const ofStatus = policies.filter((policy) => policy.status === status);
        const own = ofStatus.filter((policy) => policy.queue === name);
        const inForce = own.length > 0 ? own : ofStatus.filter((policy) => policy.queue === null);
        if (count === 0 || inForce.length === 0) return [];
        return [new Shelf(db, { q, status, count }, { policies: inForce, now })];
      }),
    );
}

function oldestOf(shelves: readonly Shelf[]): Shelf | null {
  let oldest: { readonly shelf: Shelf; readonly head: Victim } | null = null;
  for (const shelf of shelves) {
    const head = shelf.head();
    if (head !== null && (oldest === null || isBefore(head, oldest.head))) oldest = { shelf, head };
  }
  return oldest?.shelf ?? null;
}

function isBefore(a: Victim, b: Victim): boolean {
  return a.finishedAt !== b.finishedAt ? a.finishedAt < b.finishedAt : a.seq < b.seq;
}
