/**
 * Sweeping: deletes what has expired or is of no use any more. Readers check the time themselves, so they
 * did not see it any more. It goes in steps of some milliseconds, each a transaction of its own.
 *
 * A queue is forgotten when it has no jobs, no settings and no holds, no key that outlives its job, and
 * was not used for an hour. Programs that make a queue for each customer or each day leave thousands of
 * those behind, and a count of queues reads them all.
 */
import { QUEUE_REMEMBERED_MS } from "../../core/line.ts";
import type { Connection } from "./connection.ts";
import type { Transaction } from "./transaction.ts";

/** Of each kind, in one step. */
const SWEEP_AT_MOST = 1_000;
/** Lines without jobs are swept only when there are so many: most groups come again. */
const KEEP_LINES = 10_000;

/** Where something is kept for a time: the table, its key, and when its time is over. */
const KEPT_FOR_A_TIME = [
  { table: "holdfast_gone", key: "id", end: "forget_at" },
  { table: "holdfast_key", key: "q, key", end: "expires_at" },
  { table: "holdfast_record", key: "key", end: "expires_at" },
  { table: "holdfast_hold", key: "q, line, owner", end: "until" },
  { table: "holdfast_disowned", key: "w", end: "forget_at" },
];
const HAS_EXPIRED = KEPT_FOR_A_TIME.map(
  ({ table, end }) => `SELECT 1 FROM ${table} WHERE ${end} <= ? LIMIT 1`,
);
const SWEEP = KEPT_FOR_A_TIME.map(
  ({ table, key, end }) => `
    DELETE FROM ${table} WHERE (${key}) IN (
      SELECT ${key} FROM ${table} WHERE ${end} <= ? LIMIT ${SWEEP_AT_MOST})`,
);

const HAS_MANY_LINES = `SELECT 1 FROM holdfast_line LIMIT 1 OFFSET ${KEEP_LINES}`;
const IDLE_LINES = `
  SELECT line FROM holdfast_line n
  WHERE state = 0 AND weight IS NULL AND max_active IS NULL AND active = 0
    AND NOT EXISTS (SELECT 1 FROM holdfast_hold h WHERE h.q = n.q AND h.line = n.line)
    AND line NOT IN (SELECT line FROM holdfast_leased)`;
const HAS_IDLE_LINE = `${IDLE_LINES} LIMIT 1`;
const SWEEP_IDLE_LINES = `
  DELETE FROM holdfast_line WHERE line IN (${IDLE_LINES} LIMIT ${SWEEP_AT_MOST})`;

const UNUSED_QUEUES = `
  SELECT q FROM holdfast_queue u
  WHERE used_at <= ? AND ready = 0 AND delayed = 0 AND processing = 0
    AND succeeded = 0 AND dead = 0 AND cancelled = 0
    AND max_active IS NULL AND max_active_per_group IS NULL AND max_waiting IS NULL
    AND NOT EXISTS (SELECT 1 FROM holdfast_hold h WHERE h.q = u.q)
    AND NOT EXISTS (SELECT 1 FROM holdfast_key k WHERE k.q = u.q)
    AND NOT EXISTS (SELECT 1 FROM holdfast_line n
      WHERE n.q = u.q AND (n.weight IS NOT NULL OR n.max_active IS NOT NULL))`;
const HAS_UNUSED_QUEUE = `${UNUSED_QUEUES} LIMIT 1`;
const SOME_UNUSED_QUEUES = `${UNUSED_QUEUES} LIMIT ${SWEEP_AT_MOST}`;
/** No job stands in them, whatever their state says. */
const SWEEP_LINES_OF = `
  DELETE FROM holdfast_line WHERE line IN (
    SELECT n.line FROM json_each(?) e CROSS JOIN holdfast_line n ON n.q = e.value
    LIMIT ${SWEEP_AT_MOST})`;
const DROP_QUEUES = `
  DELETE FROM holdfast_queue WHERE q IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM holdfast_line n WHERE n.q = holdfast_queue.q)`;

/** Looks without the write lock: mostly there is nothing to do. */
export function isSweepDue(db: Connection, now: number): boolean {
  return (
    HAS_EXPIRED.some((sql) => db.value(sql, now) !== undefined) ||
    db.value(HAS_UNUSED_QUEUE, now - QUEUE_REMEMBERED_MS) !== undefined ||
    (db.value(HAS_MANY_LINES) !== undefined && db.value(HAS_IDLE_LINE) !== undefined)
  );
}

/** One step. Answers whether another may find more. */
export function sweep(tx: Transaction): boolean {
  // Counts of this transaction's own moves are not written yet.
  tx.flush();
  let isFull = false;
  const swept = (rows: number): void => void (isFull ||= rows >= SWEEP_AT_MOST);
  for (const sql of SWEEP) swept(tx.db.run(sql, tx.now));
  if (tx.db.value(HAS_MANY_LINES) !== undefined) swept(tx.lines.sweep(SWEEP_IDLE_LINES));
  const unused = tx.db
    .rows<[number]>(SOME_UNUSED_QUEUES)
    .all(tx.now - QUEUE_REMEMBERED_MS)
    .flat();
  if (unused.length > 0) {
    const numbers = JSON.stringify(unused);
    swept(tx.lines.sweep(SWEEP_LINES_OF, numbers));
    swept(tx.db.run(DROP_QUEUES, numbers));
    tx.queues.forget(unused);
  }
  return isFull;
}
