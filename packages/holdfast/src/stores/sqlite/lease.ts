/**
 * Leasing. Shares between the asked queues (`core/shares.ts`), turns between the open lines of a queue
 * (`core/turns.ts`), priority and age inside a line (the key of `holdfast_ready`).
 *
 * Lines are found, never jobs: only open lines are in the ring, so a hundred thousand jobs in held
 * lines cost nothing. A queue with one open line takes everything in three statements and writes no
 * turn, which is the whole price that queues without groups pay for all this.
 */
import type { Demand, Shares } from "../../core/shares.ts";
import type { LeasedJob, LeaseReply, LeaseRequest } from "../../core/store.ts";
import { interleave, planTurns, type Wanted } from "../../core/turns.ts";
import { ByteBudget } from "./byte-budget.ts";
import { instantAfter } from "./clock.ts";
import type { Connection } from "./connection.ts";
import { FULL, IDLE, onlyFree, type Line } from "./line-book.ts";
import { comeBackAt } from "./outlook.ts";
import { FOREVER, QueueBook, type Queue } from "./queue-book.ts";
import { moveDue } from "./placement.ts";
import { startAttempts } from "./start-attempts.ts";
import type { Transaction } from "./transaction.ts";

/** Held lines whose holds have ended, opened per call. */
const REOPEN_AT_MOST = 100;
/** Lines found empty per call, beyond those that gave something. */
const PASS_AT_MOST = 256;
/** Turns of a line in one call that wants many jobs. More were faster, and keep a new line waiting longer. */
const MOST_TURNS_AT_ONCE = 4;
/** A call goes to so many lines before it takes several turns of one. */
const LEAST_LINES = 16;

const EXPIRED_HOLDS = `
  SELECT line FROM holdfast_line INDEXED BY holdfast_line_held
  WHERE q = ? AND state = 2 AND held_until <= ? LIMIT ${REOPEN_AT_MOST}`;
const FIRST_HOLD_END = `
  SELECT held_until FROM holdfast_line INDEXED BY holdfast_line_held
  WHERE q = ? AND state = 2 ORDER BY held_until LIMIT 1`;
/** Only numbers, straight from the index: the lines themselves are mostly known already. */
const RING = `
  SELECT line FROM holdfast_line INDEXED BY holdfast_line_open
  WHERE q = ? AND state = 1 AND line >= ? ORDER BY line LIMIT ? + 0`;
const RING_START = RING.replace("line >= ?", "line < ?");
/** Without the lines that have caps of their own. */
const FREE_RING = onlyFree(RING);
const FREE_RING_START = onlyFree(RING_START);

/** Looks without the write lock. Null: there may be something, ask again inside a transaction. */
export function peek(db: Connection, request: LeaseRequest, now: number): LeaseReply | null {
  const demands = demandsOf(new QueueBook(db), request);
  const nextAt = nextAtOf(db, demands, { request, now });
  if (nextAt <= now && request.limit > 0) return null;
  return { jobs: [], nextInMs: inMs(nextAt, now) };
}

interface QueueDemand extends Demand {
  readonly queue: Queue;
}

/** One call of `lease`, and what has come of it so far. */
interface Call {
  readonly until: number;
  /** The number of the worker. */
  readonly w: number;
  readonly jobs: LeasedJob[];
  /** How many may still come from capped lines. */
  cappedLeft: number;
  readonly budget: ByteBudget;
}

export function lease(tx: Transaction, request: LeaseRequest, shares: Shares): LeaseReply {
  const demands = demandsOf(tx.queues, request);
  for (const { queue, limit } of demands) {
    if (queue.heldUntil > tx.now) continue;
    reopenLines(tx, queue);
    // In bounded steps: a hundred thousand jobs due at once must not stall one call, and twice what
    // it may take keeps ahead of it.
    moveDue(tx, queue, Math.max(200, 2 * limit));
  }
  const until = instantAfter(tx.now, request.leaseMs);
  const w = tx.workers.numberOf(request.worker);
  const budget = new ByteBudget(request.maxBytes);
  const call: Call = { until, w, jobs: [], cappedLeft: cappedLimitOf(request), budget };
  shares.shareOut(demands, request.limit, ({ queue }, atMost) =>
    takeTurns(tx, queue, { atMost, call }),
  );
  tx.lines.flush();
  tx.fresh.flush();
  const nextAt = nextAtOf(tx.db, demands, { request, now: tx.now });
  return { jobs: call.jobs, nextInMs: inMs(nextAt, tx.now) };
}

function cappedLimitOf({ limit, cappedLimit = limit }: LeaseRequest): number {
  return cappedLimit;
}

function nextAtOf(
  db: Connection,
  demands: readonly QueueDemand[],
  { request, now }: { readonly request: LeaseRequest; readonly now: number },
): number {
  const wantsCapped = cappedLimitOf(request) > 0;
  let nextAt = FOREVER;
  for (const { queue } of demands) {
    nextAt = Math.min(nextAt, comeBackAt(db, queue, { now, wantsCapped }));
  }
  return nextAt;
}

function demandsOf(queues: QueueBook, request: LeaseRequest): QueueDemand[] {
  const demands: QueueDemand[] = [];
  for (const { queue: name, limit, weight = 1 } of request.queues) {
    const queue = limit > 0 ? queues.find(name) : null;
    if (queue !== null) demands.push({ name, queue, limit, weight });
  }
  return demands;
}

function inMs(nextAt: number, now: number): number | null {
  return nextAt === FOREVER ? null : Math.max(0, nextAt - now);
}

function reopenLines(tx: Transaction, queue: Queue): void {
  if (queue.firstHoldEndsAt === null) {
    tx.lines.flush();
    const endsAt = tx.db.value(FIRST_HOLD_END, queue.q) as number | undefined;
    queue.firstHoldEndsAt = endsAt ?? FOREVER;
  }
  if (queue.firstHoldEndsAt > tx.now) return;
  // Whether a line opens depends on what stands in it.
  tx.fresh.flush();
  for (const [line] of tx.db.rows<[number]>(EXPIRED_HOLDS).all(queue.q, tx.now)) {
    tx.lines.settleState(tx.lines.byNumber(line), tx.now);
  }
}

/** Hands out up to so many jobs of this queue, line by line; answers how many. */
function takeTurns(
  tx: Transaction,
  queue: Queue,
  { atMost, call }: { readonly atMost: number; readonly call: Call },
): number {
  let taken = 0;
  let isDrained = false;
  if (queue.heldUntil > tx.now) return taken;
  for (let passed = 0; passed <= PASS_AT_MOST;) {
    const room = queue.maxActive === null ? Infinity : queue.maxActive - queue.counts.processing;
    const wanted = { jobs: Math.min(atMost - taken, room), ofCapped: call.cappedLeft };
    if (wanted.jobs <= 0 || call.budget.isSpent) break;
    const ring = ringOf(tx, queue, wanted);
    const current = { line: queue.turnLine, left: queue.turnLeft };
    const turnsAtOnce = turnsAtOnceFor(wanted);
    const plan = planTurns(ring, wanted, { current, turnsAtOnce, keyOf: ({ line }) => line });
    if (plan.quotas.length === 0) break;
    const { packs, cutAt } = startAttempts(tx, plan.quotas, call);
    for (const { line, items, isEmptied } of packs) {
      taken += items.length;
      if (line.isCapped) call.cappedLeft -= items.length;
      if (line.room === 0) tx.lines.set(line, { state: FULL });
      else if (isEmptied) {
        passed++;
        // A line alone stays open: it would be opened by the next insert, and closed by the next
        // lease, and each of that is two pages more to write for a queue without groups.
        if (ring.length > 1) tx.lines.set(line, { state: IDLE });
        else isDrained = true;
      }
    }
    // A line alone needs no turns, so a queue without groups never writes one.
    if (ring.length > 1) {
      // Whose job did not fit goes first in the next call.
      const { line, left } = cutAt === null ? plan.turn : { line: cutAt.line.line, left: 1 };
      queue.setTurn(line, left);
    }
    for (const job of interleave(packs)) call.jobs.push(job);
    if (isDrained) break;
  }
  return taken;
}

/** Three statements a line, however many of its jobs are taken. */
function turnsAtOnceFor({ jobs }: Wanted): number {
  return Math.max(1, Math.min(MOST_TURNS_AT_ONCE, Math.floor(jobs / LEAST_LINES)));
}

/**
 * The open lines from the one whose turn it is, as many as may be needed. At least two: with one alone
 * nobody could tell whether it is the only one.
 */
function ringOf(tx: Transaction, queue: Queue, wanted: Wanted): Line[] {
  const { jobs, ofCapped } = wanted;
  const isFree = queue.maxActive === null && queue.maxActivePerGroup === null;
  if (ofCapped <= 0 && !isFree) return [];
  const only = queue.onlyOpenLine;
  if (only !== null) return ofCapped > 0 || only.maxActive === null ? [only] : [];
  tx.lines.flush();
  const atMost = Math.max(2, Math.ceil(jobs / turnsAtOnceFor(wanted)));
  const from = queue.turnLeft > 0 ? queue.turnLine : queue.turnLine + 1;
  const [ring, start] = ofCapped > 0 ? [RING, RING_START] : [FREE_RING, FREE_RING_START];
  const rows = tx.db.rows<[number]>(ring).all(queue.q, from, atMost);
  if (rows.length < atMost && from > 1) {
    rows.push(...tx.db.rows<[number]>(start).all(queue.q, from, atMost - rows.length));
  }
  const lines = rows.map(([line]) => tx.lines.byNumber(line));
  const [first] = lines;
  if (ofCapped > 0 && first !== undefined && lines.length === 1) queue.onlyOpenLine = first;
  return lines;
}
