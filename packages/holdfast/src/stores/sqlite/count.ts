/**
 * Counts, from the numbers every move keeps in its queue's row. Delayed jobs whose time has come but
 * that no lease has moved yet are counted as the ready jobs they are.
 */
import { COUNTED_TO } from "../../core/line.ts";
import type { JobRef, QueueCounts } from "../../core/store.ts";
import type { Connection } from "./connection.ts";
import { oldestReady } from "./oldest-ready.ts";

const COUNTS = `
  SELECT q, name, ready, delayed, processing, succeeded, dead, cancelled, retrying
  FROM holdfast_queue`;
const DUE = `
  SELECT count(*), min(run_at) FROM holdfast_later INDEXED BY holdfast_later_due
  WHERE q = ? AND run_at <= ?`;
const QUEUES_WITH_DUE = `
  SELECT name FROM holdfast_queue q WHERE delayed > 0 AND EXISTS (
    SELECT 1 FROM holdfast_later a INDEXED BY holdfast_later_due
    WHERE a.q = q.q AND a.run_at <= ?)`;
/** Where a ready job stands, moved into its line already or not. */
const STAND = `
  SELECT j.q, j.grp, j.prio, j.seq, n.line FROM holdfast_job j
  LEFT JOIN holdfast_line n ON n.q = j.q AND n.grp = j.grp
  WHERE j.id = ? AND (
    EXISTS (SELECT 1 FROM holdfast_later a WHERE a.seq = j.seq AND a.run_at <= ?)
    OR EXISTS (SELECT 1 FROM holdfast_ready r
      WHERE r.line = n.line AND r.prio = j.prio AND r.seq = j.seq))`;
const BEFORE_IN_LINE = `
  SELECT count(*) FROM (SELECT 1 FROM holdfast_ready
    WHERE line = ? AND (prio, seq) < (?, ?) LIMIT ${COUNTED_TO})`;
const BEFORE_AMONG_DUE = `
  SELECT count(*) FROM (
    SELECT 1 FROM holdfast_later a INDEXED BY holdfast_later_due
    CROSS JOIN holdfast_job j ON j.seq = a.seq
    WHERE a.q = ? AND a.run_at <= ? AND j.grp = ? AND (j.prio, j.seq) < (?, ?) LIMIT ${COUNTED_TO})`;

type CountsRow = [
  q: number,
  name: string,
  ready: number,
  delayed: number,
  processing: number,
  succeeded: number,
  dead: number,
  cancelled: number,
  retrying: number,
];

export function count(db: Connection, now: number): QueueCounts[] {
  const waitsSince = oldestReady(db);
  return db
    .rows<CountsRow>(COUNTS)
    .all()
    .map(([q, queue, ready, delayed, processing, succeeded, dead, cancelled, retrying]) => {
      const [due, dueSince] =
        delayed === 0 ? NONE_DUE : (db.rows<DueRow>(DUE).get(q, now) ?? NONE_DUE);
      return {
        ...{ queue, ready: ready + due, delayed: delayed - due, processing },
        ...{ succeeded, dead, cancelled, retrying: Math.min(retrying, COUNTED_TO) },
        oldestReadyAt: earlier(waitsSince.get(q) ?? null, dueSince),
      };
    })
    .sort((a, b) => (a.queue < b.queue ? -1 : 1));
}

type DueRow = [due: number, since: number | null];
const NONE_DUE: DueRow = [0, null];

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

/** The queues with jobs whose time has come but that stand among the delayed still. */
export function queuesWithDue(db: Connection, now: number): string[] {
  return db
    .rows<[string]>(QUEUES_WITH_DUE)
    .all(now)
    .map(([name]) => name);
}

export function place(db: Connection, { id }: JobRef, now: number): number | null {
  type Row = [q: number, group: string, prio: number, seq: number, line: number | null];
  const row = db.rows<Row>(STAND).get(id, now);
  if (row === undefined) return null;
  const [q, group, prio, seq, line] = row;
  const inLine = line === null ? 0 : Number(db.value(BEFORE_IN_LINE, line, prio, seq));
  const amongDue = Number(db.value(BEFORE_AMONG_DUE, q, now, group, prio, seq));
  return Math.min(inLine + amongDue, COUNTED_TO);
}
