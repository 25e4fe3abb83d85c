/**
 * Retention. Only finished jobs are looked at, so work that has not run cannot be touched. Of all jobs
 * that are past a policy the one that finished first goes first: with a limit, a busy queue cannot
 * keep the others from being pruned.
 *
 * One statement a status asks all queues at once whether they have something to give, so five thousand
 * queues that have nothing cost some milliseconds. Only those that have get a shelf.
 */
import { FINISHED_STATUSES, type FinishedStatus } from "../../core/job.ts";
import type { Retention } from "../../core/store.ts";
import type { Connection } from "./connection.ts";
import { HAS_EXTRAS } from "./placement.ts";
import { STATUS_CODES } from "./status-codes.ts";
import { bury } from "./tombstones.ts";
import type { Transaction } from "./transaction.ts";
import { dropUnhappy } from "./unhappy.ts";

/** Rows read ahead of one queue and status, at most. */
const READ_AHEAD = 100;
/** No bound by number, and no bound by age. */
const ALL = Number.MAX_SAFE_INTEGER;
const NEVER = Number.MIN_SAFE_INTEGER;

/** Queues that have more than so many, or one that finished so long ago; with the oldest of each. */
const PAST = (status: FinishedStatus): string => `
  SELECT q.q, q.${status}, (
    SELECT d.finished_at FROM holdfast_done d
    WHERE d.q = q.q AND d.status = ${STATUS_CODES[status]} ORDER BY d.finished_at LIMIT 1)
  FROM holdfast_queue q WHERE q.${status} > 0 AND (q.${status} > ? OR EXISTS (
    SELECT 1 FROM holdfast_done d
    WHERE d.q = q.q AND d.status = ${STATUS_CODES[status]} AND d.finished_at <= ?))`;
const IS_NAMED = " AND q.name = ?";
const IS_NONE_OF = " AND q.name NOT IN (SELECT value FROM json_each(?))";
const OLDEST = `
  SELECT d.finished_at, d.seq FROM holdfast_done d
  WHERE d.q = ? AND d.status = ? AND (d.finished_at, d.seq) > (?, ?)
  ORDER BY d.finished_at, d.seq LIMIT ? + 0`;
const VICTIM = `
  SELECT j.id, coalesce(d.settled_fence, d.fence), d.flags FROM holdfast_done d
  CROSS JOIN holdfast_job j ON j.seq = d.seq WHERE d.seq = ?`;
const DROP_DONE = "DELETE FROM holdfast_done WHERE seq = ?";

/** Looks without the write lock: mostly there is nothing to do. */
export function isPruneDue(db: Connection, policies: readonly Retention[], now: number): boolean {
  return shelvesOf(db, policies, { now, limit: 1, isLook: true }).length > 0;
}

export function prune(tx: Transaction, policies: readonly Retention[], limit: number): number {
  // Counts of this transaction's own moves are not written yet.
  tx.flush();
  const shelves = shelvesOf(tx.db, policies, { now: tx.now, limit });
  shelves.sort(byHead);
  let pruned = 0;
  for (; pruned < limit; pruned++) {
    const shelf = shelves.shift();
    const seq = shelf?.take();
    if (shelf === undefined || seq === undefined) break;
    deleteFinished(tx, shelf, seq);
    if (shelf.head() !== null) shelves.splice(placeFor(shelf, shelves), 0, shelf);
  }
  return pruned;
}

function deleteFinished(tx: Transaction, { q, status }: Shelf, seq: number): void {
  const row = tx.db.rows<[string, number, number]>(VICTIM).get(seq);
  if (row === undefined) throw new Error("a finished job has lost its body");
  const [id, settledFence, flags] = row;
  const queue = tx.queues.byNumber(q);
  tx.db.run(DROP_DONE, seq);
  queue.add(status, -1);
  if (status !== "succeeded") {
    dropUnhappy(tx, { seq, as: status, hasExtras: (flags & HAS_EXTRAS) !== 0 });
  }
  bury(tx, queue, { seq, id, settledFence, flags });
}

/** What finished at `before` or earlier goes, and what is more than `keep`. */
interface Bounds {
  readonly before: number;
  readonly keep: number;
}

/** Past any policy means past the strictest. */
function boundsOf(policies: readonly Retention[], now: number): Bounds {
  let before = NEVER;
  let keep = ALL;
  for (const policy of policies) {
    if (policy.olderThanMs !== null) {
      before = Math.max(before, Math.floor(now - policy.olderThanMs));
    }
    if (policy.keep !== null) keep = Math.min(keep, policy.keep);
  }
  return { before, keep };
}

/** Queues that have something past their bounds: the own ones, or else those for all queues. */
function shelvesOf(
  db: Connection,
  policies: readonly Retention[],
  { now, limit, isLook = false }: { now: number; limit: number; isLook?: boolean },
): Shelf[] {
  type Row = [q: number, count: number, oldest: number];
  const found: { readonly oldest: number; readonly of: ShelfOptions }[] = [];
  for (const status of limit > 0 ? FINISHED_STATUSES : []) {
    const ofStatus = policies.filter((policy) => policy.status === status);
    const byQueue = Map.groupBy(ofStatus, ({ queue }) => queue);
    const named = JSON.stringify([...byQueue.keys()].filter((queue) => queue !== null));
    for (const [queue, own] of byQueue) {
      const bounds = boundsOf(own, now);
      if (bounds.before === NEVER && bounds.keep === ALL) continue;
      const [which, who] = queue === null ? [IS_NONE_OF, named] : [IS_NAMED, queue];
      const sql = `${PAST(status)}${which}${isLook ? " LIMIT 1" : ""}`;
      const rows = db.rows<Row>(sql).all(bounds.keep, bounds.before, who);
      for (const [q, count, oldest] of rows) {
        found.push({ oldest, of: { q, status, count, bounds } });
      }
    }
  }
  // So many jobs come from no more shelves than that, or from those whose oldest is as old.
  const last = found.map(({ oldest }) => oldest).toSorted((a, b) => a - b)[limit - 1] ?? ALL;
  const wanted = found.filter(({ oldest }) => oldest <= last);
  const readAhead = Math.min(READ_AHEAD, Math.ceil(limit / wanted.length));
  return wanted.map(({ of }) => new Shelf(db, { ...of, readAhead }));
}

interface Victim {
  readonly finishedAt: number;
  readonly seq: number;
}

interface ShelfOptions {
  readonly q: number;
  readonly status: FinishedStatus;
  readonly count: number;
  readonly bounds: Bounds;
}

/** The finished jobs of one queue and status, the oldest first. */
class Shelf {
  readonly q: number;
  readonly status: FinishedStatus;
  readonly #db: Connection;
  readonly #bounds: Bounds;
  readonly #readAhead: number;
  #count: number;
  #ahead: Victim[] = [];
  #last: Victim = { finishedAt: NEVER, seq: 0 };
  #isAtEnd = false;

  constructor(db: Connection, of: ShelfOptions & { readonly readAhead: number }) {
    this.#db = db;
    this.q = of.q;
    this.status = of.status;
    this.#count = of.count;
    this.#bounds = of.bounds;
    this.#readAhead = of.readAhead;
  }

  /** The oldest, if it is past the bounds. */
  head(): Victim | null {
    if (this.#ahead.length === 0) this.#readMore();
    const [oldest] = this.#ahead;
    if (oldest === undefined) return null;
    const { before, keep } = this.#bounds;
    return oldest.finishedAt <= before || this.#count > keep ? oldest : null;
  }

  take(): number | undefined {
    const head = this.head();
    if (head === null) return undefined;
    this.#ahead.shift();
    this.#count--;
    return head.seq;
  }

  #readMore(): void {
    if (this.#isAtEnd) return;
    const { finishedAt, seq } = this.#last;
    const rows = this.#db
      .rows<[number, number]>(OLDEST)
      .all(this.q, STATUS_CODES[this.status], finishedAt, seq, this.#readAhead);
    this.#ahead = rows.map(([finished, number]) => ({ finishedAt: finished, seq: number }));
    this.#last = this.#ahead.at(-1) ?? this.#last;
    this.#isAtEnd = rows.length < this.#readAhead;
  }
}

function byHead(a: Shelf, b: Shelf): number {
  const [left, right] = [a.head(), b.head()];
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  return left.finishedAt - right.finishedAt || left.seq - right.seq;
}

/** Among shelves that are in the order of their heads. */
function placeFor(shelf: Shelf, shelves: readonly Shelf[]): number {
  let [low, high] = [0, shelves.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byHead(shelves[middle] as Shelf, shelf) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
