/** Takes the first ready jobs of a line and makes them leases. */
import type { Step } from "../../core/job.ts";
import type { LeasedJob } from "../../core/store.ts";
import { handleOf } from "./held-lease.ts";
import type { Line } from "./line-book.ts";
import { HAS_PAST } from "./standing.ts";
import type { Transaction } from "./transaction.ts";

const HEAD_OF_LINE = `
  SELECT r.seq, r.prio, r.attempts, r.max_attempts, r.crashes, r.fence, r.run_at, r.flags,
    j.id, j.type, j.created_at, j.tags, j.meta, j.trace, j.payload
  FROM holdfast_ready r CROSS JOIN holdfast_job j ON j.seq = r.seq
  WHERE r.line = ? ORDER BY r.prio, r.seq LIMIT ? + 0`;
/** The same rows again: nothing can come between, so the two statements agree. */
const LEASE = `
  INSERT INTO holdfast_leased (seq, q, line, prio, attempts, max_attempts, crashes, fence,
    settled_fence, run_at, flags, spent, capped, worker, leased_at, until)
  SELECT seq, ?, line, prio, attempts + (attempts < max_attempts), max_attempts, crashes,
    max(fence + 1, ?), settled_fence, run_at, flags, attempts < max_attempts, ?, ?, ?, ?
  FROM holdfast_ready WHERE line = ? ORDER BY prio, seq LIMIT ? + 0`;
const DROP_READY = "DELETE FROM holdfast_ready WHERE line = ? AND (prio, seq) <= (?, ?)";
const PAST_OF = "SELECT deferrals, checkpoint FROM holdfast_trail WHERE seq = ?";
const STEPS_OF = "SELECT name, value FROM holdfast_step WHERE seq = ? ORDER BY n";

type HeadRow = [
  seq: number,
  prio: number,
  attempts: number,
  maxAttempts: number,
  crashes: number,
  fence: number,
  runAt: number | null,
  flags: number,
  id: string,
  type: string,
  createdAt: number,
  tags: string | null,
  meta: string | null,
  trace: string | null,
  payload: string,
];

export interface Start {
  /** At most so many. */
  readonly jobs: number;
  readonly until: number;
  readonly worker: string;
}

export function startAttempts(tx: Transaction, line: Line, start: Start): LeasedJob[] {
  const rows = tx.db.rows<HeadRow>(HEAD_OF_LINE).all(line.line, start.jobs);
  const last = rows.at(-1);
  if (last === undefined) return [];
  const { queue } = line;
  const isCapped = line.cap !== null;
  const { worker, until } = start;
  tx.db
    .write(LEASE)
    .run(queue.q, tx.micros, isCapped ? 1 : 0, worker, tx.now, until, line.line, rows.length);
  tx.db.write(DROP_READY).run(line.line, last[1], last[0]);
  queue.add("ready", -rows.length);
  queue.add("processing", rows.length);
  if (isCapped) tx.lines.set(line, { active: line.active + rows.length });
  return rows.map((row) => leasedJob(tx, line, row));
}

function leasedJob(tx: Transaction, line: Line, row: HeadRow): LeasedJob {
  const [seq, priority, attempts, maxAttempts, crashes, fence, runAt, flags, id, type] = row;
  const [, , , , , , , , , , createdAt, tags, meta, trace, payload] = row;
  const isExhausted = attempts >= maxAttempts;
  const hasPast = (flags & HAS_PAST) !== 0;
  const past = hasPast ? tx.db.rows<[number, string | null]>(PAST_OF).get(seq) : undefined;
  return {
    id,
    queue: line.queue.name,
    handle: handleOf(seq, line.queue.q, id),
    fence: tx.fenceAfter(fence),
    group: line.group,
    type,
    payload,
    priority,
    attempt: isExhausted ? attempts : attempts + 1,
    maxAttempts,
    exhausted: isExhausted,
    crashes,
    deferrals: past?.[0] ?? 0,
    checkpoint: past?.[1] ?? null,
    steps: hasPast ? stepsOf(tx, seq) : [],
    tags: tags === null ? [] : (JSON.parse(tags) as string[]),
    meta,
    trace,
    createdAt,
    runAt: runAt ?? createdAt,
  };
}

function stepsOf(tx: Transaction, seq: number): Step[] {
  const rows = tx.db.rows<[string, string]>(STEPS_OF).all(seq);
  return rows.map(([name, value]) => ({ name, value }));
}
