/**
 * Takes the first ready jobs of lines and makes them leases. Several jobs of a line are one range of
 * its index: three statements, however many. A single one is handed over by its values, which is
 * cheaper than two ranges of one. Asking for the first jobs of many lines in one statement
 * (`json_each`) was tried and was no faster. What is left of the price of a thousand groups is memory:
 * their jobs lie on as many pages, and every page they leave is written. Letting a line remember how
 * far it was taken, and deleting sixteen jobs of it at once, was tried: 40 % fewer pages written, and no
 * time saved that could be told from noise. What is deleted later is deleted all the same.
 */
import type { Step } from "../../core/job.ts";
import type { LeasedJob } from "../../core/store.ts";
import type { ByteBudget } from "./byte-budget.ts";
import { dropDue } from "./due-jobs.ts";
import { fitPayloads } from "./fit-payloads.ts";
import { handleOf } from "./held-lease.ts";
import type { Line } from "./line-book.ts";
import { PAYLOAD, type ReadyRow } from "./ready-row.ts";
import { HAS_EXTRAS, HAS_PAST, IS_LARGE } from "./placement.ts";
import type { Transaction } from "./transaction.ts";

const HEAD = `
  SELECT r.seq, r.prio, r.attempts, r.max_attempts, r.crashes, r.fence, r.run_at, r.flags,
    r.settled_fence, j.id, j.type, j.created_at,
    CASE WHEN r.flags & ${IS_LARGE} THEN NULL ELSE j.payload END
  FROM holdfast_ready r CROSS JOIN holdfast_job j ON j.seq = r.seq
  WHERE r.line = ? ORDER BY r.prio, r.seq`;
const LEASE = `
  INSERT INTO holdfast_leased (q, line, capped, w, leased_at, until, seq, prio, attempts,
    max_attempts, crashes, fence, settled_fence, run_at, flags, spent)`;

const FIRST = `${HEAD} LIMIT 1`;
const LEASE_FIRST = `${LEASE} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
/** The same for a job that nothing has happened to: seven values fewer to hand over. */
const LEASE_FRESH = `${LEASE} VALUES (?, ?, 0, ?, ?, ?, ?, ?, 1, ?, 0, ?, 0, NULL, 0, 1)`;
const DROP_FIRST = "DELETE FROM holdfast_ready WHERE line = ? AND prio = ? AND seq = ?";

const SOME = `${HEAD} LIMIT ? + 0`;
/** The same rows again: nothing can come between, so the two statements agree. */
const LEASE_SOME = `
  ${LEASE}
  SELECT ?, line, ?, ?, ?, ?, seq, prio, attempts + (attempts < max_attempts), max_attempts,
    crashes, max(fence + 1, ?), settled_fence, run_at, flags, attempts < max_attempts
  FROM holdfast_ready WHERE line = ? ORDER BY prio, seq LIMIT ? + 0`;
const DROP_SOME = "DELETE FROM holdfast_ready WHERE line = ? AND (prio, seq) <= (?, ?)";

const EXTRAS_OF = "SELECT tags, meta, trace FROM holdfast_job WHERE seq = ?";
const PAST_OF = "SELECT deferrals, checkpoint FROM holdfast_details WHERE seq = ?";
const STEPS_OF = "SELECT name, value FROM holdfast_step WHERE seq = ? ORDER BY n";

export interface Quota {
  readonly line: Line;
  /** At most so many. */
  readonly jobs: number;
}

export interface Pack extends Quota {
  readonly items: readonly LeasedJob[];
  /** There was no more in the line. */
  readonly isEmptied: boolean;
}

export interface Packs {
  readonly packs: readonly Pack[];
  /** Whose job was the first that did not fit into the call. Null: all did. */
  readonly cutAt: Quota | null;
}

export interface Start {
  readonly until: number;
  /** The number of the worker. */
  readonly w: number;
  readonly budget: ByteBudget;
}

/**
 * All of one queue. First it reads, then it cuts that to what the call may carry, and only what is left is
 * claimed: a job that does not fit stays where it is.
 */
export function startAttempts(tx: Transaction, quotas: readonly Quota[], start: Start): Packs {
  const way = wayFor(tx, quotas);
  const found = way.read(tx, quotas);
  const counts = found.map((rows) => rows.length);
  const cut = fitPayloads(tx, quotas, { found, budget: start.budget });
  way.claim(tx, quotas, { found, start });
  const packs = quotas.map(({ line, jobs }, index): Pack => {
    const rows = found[index] ?? [];
    const items = rows.map((row) => leasedJob(tx, line, row));
    for (const row of rows) if (row[6] !== null) leaveDue(tx, line, row);
    line.queue.add("ready", -items.length);
    line.queue.add("processing", items.length);
    if (line.cap !== null) tx.lines.set(line, { active: line.active + items.length });
    const isEmptied = items.length < jobs && items.length === counts[index];
    return { line, jobs, items, isEmptied };
  });
  return { packs, cutAt: cut === null ? null : (quotas[cut] ?? null) };
}

function leaveDue(tx: Transaction, line: Line, row: ReadyRow): void {
  dropDue(tx, line, { seq: row[0], runAt: row[6] });
  if (row[2] > 0) line.queue.add("retrying", -1);
}

/** A way to read the first jobs of lines, and to make leases of those that are wanted. */
interface Way {
  read(tx: Transaction, quotas: readonly Quota[]): ReadyRow[][];
  claim(tx: Transaction, quotas: readonly Quota[], of: Found): void;
}

interface Found {
  readonly found: readonly ReadyRow[][];
  readonly start: Start;
}

function wayFor(tx: Transaction, quotas: readonly Quota[]): Way {
  const [first] = quotas;
  if (first !== undefined && tx.fresh.areAllOf(first.line.queue)) return FRESH;
  tx.fresh.flush();
  return quotas.every(({ jobs }) => jobs === 1) ? ONE_EACH : SOME_EACH;
}

/** No job of the queue stands in line: all that are ready were inserted by this transaction. */
const FRESH: Way = {
  read: (tx, quotas) => quotas.map(({ line, jobs }) => tx.fresh.first(line, jobs)),
  claim(tx, quotas, { found, start }) {
    for (const [index, { line }] of quotas.entries()) {
      const rows = found[index] ?? [];
      tx.fresh.drop(line, rows.length);
      for (const row of rows) leaseFirst(tx, line, row, start);
    }
  },
};

/** In three sweeps over the lines: going to and fro between three statements was a little slower. */
const ONE_EACH: Way = {
  read(tx, quotas) {
    const first = tx.db.rows<ReadyRow>(FIRST);
    const found: ReadyRow[][] = [];
    for (const { line } of quotas) {
      const row = first.get(line.line);
      found.push(row === undefined ? [] : [row]);
    }
    return found;
  },
  claim(tx, quotas, { found, start }) {
    claimFirsts(tx, quotas, { found, start });
  },
};

/** A range of each line. */
const SOME_EACH: Way = {
  read: (tx, quotas) =>
    quotas.map(({ line, jobs }) => tx.db.rows<ReadyRow>(SOME).all(line.line, jobs)),
  claim(tx, quotas, { found, start: { until, w } }) {
    for (const [index, { line }] of quotas.entries()) {
      const rows = found[index] ?? [];
      const last = rows.at(-1);
      if (last === undefined) continue;
      const capped = line.cap === null ? 0 : 1;
      tx.db
        .write(LEASE_SOME)
        .run(line.queue.q, capped, w, tx.now, until, tx.micros, line.line, rows.length);
      tx.db.write(DROP_SOME).run(line.line, last[1], last[0]);
    }
  },
};

function claimFirsts(tx: Transaction, quotas: readonly Quota[], { found, start }: Found): void {
  for (let index = 0; index < found.length; index++) {
    const row = found[index]?.[0];
    if (row !== undefined) leaseFirst(tx, (quotas[index] as Quota).line, row, start);
  }
  const drop = tx.db.silent(DROP_FIRST);
  for (let index = 0; index < found.length; index++) {
    const row = found[index]?.[0];
    if (row !== undefined) drop.get((quotas[index] as Quota).line.line, row[1], row[0]);
  }
}

function leaseFirst(tx: Transaction, line: Line, row: ReadyRow, { until, w }: Start): void {
  // By index: taking the values out of the array by pattern is felt here.
  const attempts = row[2];
  const maxAttempts = row[3];
  const { q } = line.queue;
  const fence = tx.fenceAfter(row[5]);
  const isFresh = row[5] === 0 && row[6] === null && row[7] === 0 && row[4] === 0;
  if (isFresh && attempts === 0 && maxAttempts > 0 && line.cap === null) {
    const lease = tx.db.silent(LEASE_FRESH);
    lease.get(q, line.line, w, tx.now, until, row[0], row[1], maxAttempts, fence);
    return;
  }
  const spent = attempts < maxAttempts ? 1 : 0;
  const capped = line.cap === null ? 0 : 1;
  const lease = tx.db.silent(LEASE_FIRST);
  // One by one: spreading arrays into the call would cost as much as the insert.
  // prettier-ignore
  lease.get(
    q, line.line, capped, w, tx.now, until, row[0], row[1], attempts + spent, maxAttempts,
    row[4], fence, row[8], row[6], row[7], spent,
  );
}

function leasedJob(tx: Transaction, line: Line, row: ReadyRow): LeasedJob {
  const seq = row[0];
  const attempts = row[2];
  const maxAttempts = row[3];
  const createdAt = row[11];
  const flags = row[7];
  const isExhausted = attempts >= maxAttempts;
  const past = (flags & HAS_PAST) === 0 ? NO_PAST : pastOf(tx, seq);
  const extras = (flags & HAS_EXTRAS) === 0 ? NO_EXTRAS : extrasOf(tx, seq);
  return {
    id: row[9],
    queue: line.queue.name,
    handle: handleOf(seq, line.queue.q, row[9]),
    fence: tx.fenceAfter(row[5]),
    group: line.group,
    type: row[10],
    payload: row[PAYLOAD] ?? "",
    priority: row[1],
    attempt: isExhausted ? attempts : attempts + 1,
    maxAttempts,
    exhausted: isExhausted,
    crashes: row[4],
    deferrals: past.deferrals,
    checkpoint: past.checkpoint,
    steps: past.steps,
    tags: extras.tags,
    meta: extras.meta,
    trace: extras.trace,
    createdAt,
    runAt: row[6] ?? createdAt,
  };
}

type Past = Pick<LeasedJob, "deferrals" | "checkpoint" | "steps">;
const NO_PAST: Past = { deferrals: 0, checkpoint: null, steps: Object.freeze([]) };

function pastOf(tx: Transaction, seq: number): Past {
  const [deferrals, checkpoint] = tx.db.rows<[number, string | null]>(PAST_OF).get(seq) ?? [
    0,
    null,
  ];
  return { deferrals, checkpoint, steps: stepsOf(tx, seq) };
}

type Extras = Pick<LeasedJob, "tags" | "meta" | "trace">;
const NO_EXTRAS: Extras = { tags: Object.freeze([]), meta: null, trace: null };

function extrasOf(tx: Transaction, seq: number): Extras {
  type Row = [tags: string | null, meta: string | null, trace: string | null];
  const [tags, meta, trace] = tx.db.rows<Row>(EXTRAS_OF).get(seq) ?? [null, null, null];
  return { tags: tags === null ? [] : (JSON.parse(tags) as string[]), meta, trace };
}

function stepsOf(tx: Transaction, seq: number): Step[] {
  const rows = tx.db.rows<[string, string]>(STEPS_OF).all(seq);
  return rows.map(([name, value]) => ({ name, value }));
}
