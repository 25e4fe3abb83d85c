/**
 * Holds and caps: the only two ways in which anything keeps a ready job back.
 *
 * `held_until` of a queue or line is the end of its last hold, so that a lease compares one number and
 * a hold that ends needs nobody to end it. Whoever changes holds locks the row of the queue or line
 * first and looks at all its holds after that: two who release at once must not each believe that the
 * other's hold is still there.
 */
import type { HoldChange, LimitChange } from "../../core/line.ts";
import { FOREVER, instantAfter } from "./clock.ts";
import type { Value } from "./database.ts";
import { number } from "./row-values.ts";
import type { Transaction } from "./transaction.ts";

const LOCK_QUEUE = "SELECT 1 FROM holdfast.queue WHERE q = $1 FOR UPDATE";
const LOCK_LINE = "SELECT 1 FROM holdfast.line WHERE q = $1 AND grp = $2 FOR UPDATE";
/** Makes the row, or locks the one that is there. */
const ADD_LINE = `
  INSERT INTO holdfast.line (q, grp) VALUES ($1, $2)
  ON CONFLICT (q, grp) DO UPDATE SET held_until = holdfast.line.held_until`;
const NOTE_SET = `
  UPDATE holdfast.queue SET is_set = true, has_lines = has_lines OR $2
  WHERE q = $1 AND NOT (is_set AND (has_lines OR NOT $2))`;
const HOLD = `
  INSERT INTO holdfast.hold (q, is_queue, grp, owner, reason, by_whom, until, since)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (q, is_queue, grp, owner) DO UPDATE SET reason = excluded.reason,
    by_whom = excluded.by_whom, until = excluded.until, since = excluded.since`;
const RELEASE = `
  DELETE FROM holdfast.hold WHERE q = $1 AND is_queue = $2 AND grp = $3 AND owner = $4`;
const HELD_UNTIL = `coalesce((
    SELECT max(coalesce(h.until, ${FOREVER})) FROM holdfast.hold h
    WHERE h.q = $1 AND h.is_queue = $2 AND h.grp = $3 AND (h.until IS NULL OR h.until > $4)), 0)`;
const SET_QUEUE_HELD = `
  UPDATE holdfast.queue SET held_until = ${HELD_UNTIL} WHERE q = $1`;
const SET_LINE_HELD = `
  UPDATE holdfast.line SET held_until = ${HELD_UNTIL} WHERE q = $1 AND grp = $3`;
const SET_CAPS = `
  UPDATE holdfast.queue x SET has_caps = x.max_active IS NOT NULL
    OR x.max_active_per_group IS NOT NULL
    OR EXISTS (SELECT 1 FROM holdfast.line l WHERE l.q = x.q AND l.max_active IS NOT NULL)
  WHERE x.q = $1`;
const HAS_READY = "SELECT 1 FROM holdfast.ready WHERE q = $1 LIMIT 1";

export async function hold(
  tx: Transaction,
  changes: readonly HoldChange[],
  queues: ReadonlyMap<string, number>,
): Promise<void> {
  for (const change of inLockOrder(changes, queues)) {
    const q = queues.get(change.queue);
    // Only one's own is released, and only if there is one: releasing makes no queue.
    if (q === undefined) continue;
    const { group, owner } = change;
    const line: Value[] = [q, group === null, group ?? ""];
    if (change.hold === null) {
      await tx.rows(LOCK_QUEUE, [q]);
      if (group !== null) await tx.rows(LOCK_LINE, [q, group]);
      await tx.rows(RELEASE, [...line, owner]);
    } else {
      await lockToSet(tx, q, group);
      const { forMs, reason, by } = change.hold;
      const until = forMs === null ? null : instantAfter(tx.now, forMs);
      await tx.rows(HOLD, [...line, owner, reason, by, until, tx.now]);
    }
    await tx.rows(group === null ? SET_QUEUE_HELD : SET_LINE_HELD, [...line, tx.now]);
    if (change.hold === null) await wakeIfReady(tx, q);
  }
}

/**
 * By queue and group, so that two callers with the same lines never wait for each other in a circle.
 * What concerns one line stays in the order it was given.
 */
function inLockOrder<T extends { readonly queue: string; readonly group: string | null }>(
  changes: readonly T[],
  queues: ReadonlyMap<string, number>,
): T[] {
  const place = ({ queue, group }: T): [number, string] => [
    queues.get(queue) ?? 0,
    group === null ? "" : `g${group}`,
  ];
  return changes.toSorted((a, b) => {
    const [[aQueue, aGroup], [bQueue, bGroup]] = [place(a), place(b)];
    return aQueue - bQueue || (aGroup < bGroup ? -1 : aGroup > bGroup ? 1 : 0);
  });
}

async function lockToSet(tx: Transaction, q: number, group: string | null): Promise<void> {
  await tx.rows(LOCK_QUEUE, [q]);
  if (group !== null) await tx.rows(ADD_LINE, [q, group]);
  await tx.rows(NOTE_SET, [q, group !== null]);
}

export async function limit(
  tx: Transaction,
  changes: readonly LimitChange[],
  queues: ReadonlyMap<string, number>,
): Promise<void> {
  for (const change of inLockOrder(changes, queues)) {
    const q = queues.get(change.queue);
    if (q === undefined) throw new Error("the queue of a limit has no number");
    await lockToSet(tx, q, change.group);
    await (change.group === null
      ? limitQueue(tx, q, change)
      : limitLine(tx, q, change.group, change));
    await tx.rows(SET_CAPS, [q]);
    await wakeIfReady(tx, q);
  }
}

async function limitQueue(tx: Transaction, q: number, change: LimitChange): Promise<void> {
  const { maxActive, maxActivePerGroup, maxWaiting } = change;
  const columns = {
    max_active: maxActive,
    max_active_per_group: maxActivePerGroup,
    max_waiting: maxWaiting,
  };
  await patch(tx, "holdfast.queue", columns, { q });
}

async function limitLine(
  tx: Transaction,
  q: number,
  group: string,
  { maxActive, weight }: LimitChange,
): Promise<void> {
  await patch(tx, "holdfast.line", { max_active: maxActive, weight }, { q, grp: group });
}

/** Absent leaves as it is, null clears. */
async function patch(
  tx: Transaction,
  table: string,
  columns: Readonly<Record<string, number | null | undefined>>,
  key: Readonly<Record<string, number | string>>,
): Promise<void> {
  const named = Object.entries(columns).filter(([, value]) => value !== undefined);
  if (named.length === 0) return;
  const values: Value[] = [];
  const put = ([name, value]: [string, number | string | null | undefined]): string =>
    `${name} = $${values.push(value ?? null)}`;
  const sets = named.map(put).join(", ");
  const where = Object.entries(key).map(put).join(" AND ");
  await tx.rowsOnce(`UPDATE ${table} SET ${sets} WHERE ${where}`, values);
}

async function wakeIfReady(tx: Transaction, q: number): Promise<void> {
  const rows = await tx.rows(HAS_READY, [q]);
  if (rows.length > 0) tx.woken.add(q);
}

/** How many lines of settings that say nothing any more one sweep clears. */
const SWEEP_AT_MOST = 1_000;
const SWEEP_LINES = `
  DELETE FROM holdfast.line l USING (
    SELECT x.q, x.grp FROM holdfast.line x
    WHERE x.weight IS NULL AND x.max_active IS NULL AND x.held_until <= $1
      AND NOT EXISTS (SELECT 1 FROM holdfast.hold h
        WHERE h.q = x.q AND NOT h.is_queue AND h.grp = x.grp AND (h.until IS NULL OR h.until > $1))
    LIMIT ${SWEEP_AT_MOST} FOR UPDATE SKIP LOCKED) s
  WHERE l.q = s.q AND l.grp = s.grp`;

/**
 * A queue whose last line with settings has gone is leased from the quick way again. Whoever adds a
 * line locks its queue first: so once we have that lock, what we see is so.
 */
const LOCK_QUEUES_WITHOUT_LINES = `
  SELECT q.q FROM holdfast.queue q
  WHERE q.has_lines AND NOT EXISTS (SELECT 1 FROM holdfast.line l WHERE l.q = q.q)
  FOR UPDATE SKIP LOCKED`;
const NOTE_NO_LINES = `
  UPDATE holdfast.queue q SET has_lines = false
  WHERE q.q = ANY ($1) AND NOT EXISTS (SELECT 1 FROM holdfast.line l WHERE l.q = q.q)`;

export async function sweepLines(tx: Transaction): Promise<void> {
  await tx.rows(SWEEP_LINES, [tx.now]);
  const rows = await tx.rows(LOCK_QUEUES_WITHOUT_LINES);
  if (rows.length > 0) await tx.rows(NOTE_NO_LINES, [rows.map((row) => number(row, 0))]);
}
