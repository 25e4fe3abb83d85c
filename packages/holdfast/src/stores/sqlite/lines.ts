/**
 * Holds and caps: the only two ways in which anything keeps a ready job back.
 *
 * `held_until` of a queue or line is the end of its last hold, so that a lease compares one number
 * and a hold that ends needs nobody to end it. `active` of a line counts its leases only while a cap
 * concerns it; a cap that is set later counts those that run already.
 */
import type { HoldChange, LimitChange } from "../../core/line.ts";
import { instantAfter } from "./clock.ts";
import { FULL, OPEN, type Line, type LineRow } from "./line-book.ts";
import { FOREVER, type Queue } from "./queue-book.ts";
import type { Transaction } from "./transaction.ts";

const HOLD = `
  INSERT INTO holdfast_hold (q, line, owner, reason, by_whom, until, since)
  VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (q, line, owner) DO UPDATE SET reason = excluded.reason, by_whom = excluded.by_whom,
    until = excluded.until, since = excluded.since`;
const RELEASE = "DELETE FROM holdfast_hold WHERE q = ? AND line = ? AND owner = ?";
const HELD_UNTIL = `
  SELECT max(coalesce(until, ${FOREVER})) FROM holdfast_hold
  WHERE q = ? AND line = ? AND (until IS NULL OR until > ?)`;
const SET_QUEUE_HELD = "UPDATE holdfast_queue SET held_until = ? WHERE q = ?";
const SET_QUEUE_LIMITS = `
  UPDATE holdfast_queue SET max_active = ?, max_active_per_group = ?, max_waiting = ? WHERE q = ?`;
/** Its own cap, or the queue's default for every line. */
const COUNT_CAPPED = `
  UPDATE holdfast_leased SET capped = (? IS NOT NULL OR EXISTS (
    SELECT 1 FROM holdfast_line n WHERE n.line = holdfast_leased.line AND n.max_active IS NOT NULL))
  WHERE q = ?`;
const ACTIVE = `
  SELECT line, count(*) FROM holdfast_leased WHERE q = ? AND capped = 1 GROUP BY line`;
const CONCERNED = `
  SELECT line, q, grp, state, weight, max_active, active, held_until FROM holdfast_line
  WHERE q = ? AND (active > 0 OR state = ${FULL} OR (state = ${OPEN} AND ? = 0))`;

/** The number of a queue among the lines of `holdfast_hold`. */
export const WHOLE_QUEUE = 0;

export function hold(tx: Transaction, changes: readonly HoldChange[]): void {
  for (const change of changes) {
    if (change.hold === null) release(tx, change);
    else holdOne(tx, change, change.hold);
  }
}

function holdOne(
  tx: Transaction,
  { queue: name, group, owner }: HoldChange,
  { forMs, reason, by }: NonNullable<HoldChange["hold"]>,
): void {
  const queue = tx.queues.findOrAdd(name);
  const line = group === null ? null : tx.lines.findOrAdd(queue, group);
  const until = forMs === null ? null : instantAfter(tx.now, forMs);
  tx.db.run(HOLD, queue.q, line?.line ?? WHOLE_QUEUE, owner, reason, by, until, tx.now);
  holdsChanged(tx, queue, line);
}

/** Only one's own, and only if there is one: releasing makes no queue and no line. */
function release(tx: Transaction, { queue: name, group, owner }: HoldChange): void {
  const queue = tx.queues.find(name);
  if (queue === null) return;
  const line = group === null ? null : tx.lines.find(queue, group);
  if (group !== null && line === null) return;
  tx.db.run(RELEASE, queue.q, line?.line ?? WHOLE_QUEUE, owner);
  holdsChanged(tx, queue, line);
  wakeIfReady(tx, queue);
}

function holdsChanged(tx: Transaction, queue: Queue, line: Line | null): void {
  const number = line?.line ?? WHOLE_QUEUE;
  const heldUntil = Number(tx.db.value(HELD_UNTIL, queue.q, number, tx.now) ?? 0);
  if (line === null) {
    queue.heldUntil = heldUntil;
    tx.db.run(SET_QUEUE_HELD, heldUntil, queue.q);
  } else {
    tx.lines.set(line, { heldUntil });
    tx.lines.settleState(line, tx.now);
  }
}

export function limit(tx: Transaction, changes: readonly LimitChange[]): void {
  for (const change of changes) {
    const queue = tx.queues.findOrAdd(change.queue);
    if (change.group === null) limitQueue(tx, queue, change);
    else limitLine(tx, tx.lines.findOrAdd(queue, change.group), change);
    wakeIfReady(tx, queue);
  }
}

function limitQueue(tx: Transaction, queue: Queue, change: LimitChange): void {
  const { maxActive, maxActivePerGroup, maxWaiting } = change;
  if (maxActive !== undefined) queue.maxActive = maxActive;
  if (maxActivePerGroup !== undefined) queue.maxActivePerGroup = maxActivePerGroup;
  if (maxWaiting !== undefined) queue.maxWaiting = maxWaiting;
  const limits = [queue.maxActive, queue.maxActivePerGroup, queue.maxWaiting];
  tx.db.run(SET_QUEUE_LIMITS, ...limits, queue.q);
  if (maxActivePerGroup !== undefined) capsChanged(tx, queue);
}

function limitLine(tx: Transaction, line: Line, change: LimitChange): void {
  if (change.weight !== undefined) line.weight = change.weight;
  if (change.maxActive !== undefined) line.maxActive = change.maxActive;
  tx.lines.touch(line);
  if (change.maxActive !== undefined) capsChanged(tx, line.queue, [line.line]);
}

/**
 * Counts the running jobs of capped lines anew, and lets the states follow: of the lines where
 * something runs, of the full ones, and with a cap of 0 of all that are open.
 */
function capsChanged(tx: Transaction, queue: Queue, also: readonly number[] = []): void {
  tx.lines.flush();
  tx.db.run(COUNT_CAPPED, queue.maxActivePerGroup, queue.q);
  const active = new Map(tx.db.rows<[number, number]>(ACTIVE).all(queue.q));
  const concerned = tx.db.rows<LineRow>(CONCERNED).all(queue.q, queue.maxActivePerGroup);
  const numbers = [...active.keys(), ...concerned.map(([line]) => line), ...also];
  for (const number of new Set(numbers)) {
    const line = tx.lines.byNumber(number);
    tx.lines.set(line, { active: active.get(number) ?? 0 });
    tx.lines.settleState(line, tx.now);
  }
}

function wakeIfReady(tx: Transaction, queue: Queue): void {
  if (queue.counts.ready > 0) tx.wokenQueues.add(queue.name);
}
