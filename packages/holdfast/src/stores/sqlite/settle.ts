/**
 * Settling. Under the current fence everything is written, under any other nothing. The order inside
 * the one step: updates, outcome, spawned jobs, entries. The outcome comes before the spawned jobs so
 * that a child may take the key its parent has just freed.
 *
 * A success at the first attempt that says nothing more is what nearly every settle is. It takes two
 * statements and reads nothing back (`succeedAtOnce`); everything else takes the long way.
 */
import type { AttemptRecord, Failure } from "../../core/job.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Settlement, SettleResult } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import { handleOf, heldLease, type HeldLease } from "./held-lease.ts";
import { insertOne } from "./insert.ts";
import { append } from "./ledger.ts";
import { addToOutbox } from "./outbox.ts";
import type { Queue } from "./queue-book.ts";
import {
  endLease,
  freeKeyUntilFinished,
  HAS_KEY,
  HAS_PAST,
  standFinished,
  standInLine,
  type Finish,
} from "./placement.ts";
import { bury, settledFenceOfGone } from "./tombstones.ts";
import {
  addAttempt,
  addDeferral,
  addLogs,
  errorColumns,
  noteDetails,
  takeAlong,
} from "./job-details.ts";
import type { Transaction } from "./transaction.ts";

/**
 * The conditions are those of the short way: no past, no key, no cap, nobody wants it cancelled.
 * `OR FAIL`, because else SQLite would copy every page before it writes to it, to take back a part of
 * the statement; of one row there is no part.
 */
const SUCCEED = `
  INSERT OR FAIL INTO holdfast_done (q, status, finished_at, seq, attempts, max_attempts, crashes,
    fence, settled_fence, run_at, flags, took, w, result_dropped, result)
  SELECT q, 1, ?, seq, attempts, max_attempts, crashes, fence, NULL, run_at, flags, ? - leased_at, w,
    ?, ?
  FROM holdfast_leased
  WHERE seq = ? AND fence = ? AND q = ? AND attempts = 1 AND capped = 0
    AND cancel_asked = 0 AND flags & ${HAS_PAST | HAS_KEY} = 0`;
const DROP_LEASE = "DELETE FROM holdfast_leased WHERE seq = ?";
const SETTLED_FENCE = `
  SELECT coalesce(
    (SELECT coalesce(d.settled_fence, d.fence) FROM holdfast_done d WHERE d.seq = j.seq),
    (SELECT p.settled_fence FROM holdfast_leased p WHERE p.seq = j.seq),
    (SELECT a.settled_fence FROM holdfast_later a WHERE a.seq = j.seq),
    (SELECT r.settled_fence FROM holdfast_line n CROSS JOIN holdfast_ready r
      ON r.line = n.line AND r.prio = j.prio AND r.seq = j.seq WHERE n.q = j.q AND n.grp = j.grp))
  FROM holdfast_job j WHERE j.id = ?`;
const MARK_DONE = `UPDATE holdfast_done SET flags = flags | ${HAS_PAST} WHERE seq = ?`;
const MARK_LATER = `UPDATE holdfast_later SET flags = flags | ${HAS_PAST} WHERE seq = ?`;
const MARK_READY = `
  UPDATE holdfast_ready SET flags = flags | ${HAS_PAST} WHERE line = ? AND prio = ? AND seq = ?`;

export function settle(tx: Transaction, settlements: readonly Settlement[]): SettleResult[] {
  return settlements.map((settlement) => settleOne(tx, settlement));
}

function settleOne(tx: Transaction, settlement: Settlement): SettleResult {
  if (isPlain(settlement) && succeedAtOnce(tx, settlement)) return "settled";
  const lease = heldLease(tx, settlement);
  if (lease === null) return wasSettled(tx, settlement) ? "settled" : "lost";
  const queue = tx.queues.byNumber(lease.q);
  const flags = lease.flags | (takeAlong(tx, lease.seq, settlement.updates) ? HAS_PAST : 0);
  tx.db.silent(DROP_LEASE).get(lease.seq);
  endLease(tx, queue, { line: () => tx.lines.byNumber(lease.line), isCapped: lease.isCapped });
  const ending: Ending = {
    tx,
    queue,
    id: settlement.id,
    lease: { ...lease, flags, settledFence: lease.fence },
  };
  const isGone = conclude(ending, settlement.outcome, settlement.discard === true);
  follow(tx, settlement, isGone ? null : lease);
  return "settled";
}

function isPlain(settlement: Settlement): boolean {
  const { outcome, updates, spawn, entries, outbox, discard } = settlement;
  return (
    outcome.kind === "succeed" &&
    updates === undefined &&
    isEmpty(spawn) &&
    isEmpty(entries) &&
    isEmpty(outbox) &&
    discard !== true
  );
}

function isEmpty(list: readonly unknown[] | undefined): boolean {
  return list === undefined || list.length === 0;
}

function succeedAtOnce(
  tx: Transaction,
  { id, handle, fence, queue, outcome }: Settlement,
): boolean {
  if (outcome.kind !== "succeed") return false;
  const seq = Number.parseInt(handle, 10);
  const known = tx.queues.find(queue);
  if (known === null || handle !== handleOf(seq, known.q, id)) return false;
  const { changes } = tx.db
    .write(SUCCEED)
    .run(tx.now, tx.now, outcome.resultDropped ? 1 : 0, outcome.result, seq, fence, known.q);
  if (Number(changes) === 0) return false;
  tx.db.silent(DROP_LEASE).get(seq);
  endLease(tx, known, { isCapped: false, line: () => tx.lines.findOrAdd(known, "") });
  known.add("succeeded", 1);
  tx.finishedJobs.push(id);
  return true;
}

/** Is this the repeat of the job's last settle? A job that is gone is asked through its tombstone. */
function wasSettled(tx: Transaction, { id, fence }: Settlement): boolean {
  const known = tx.db.value(SETTLED_FENCE, id) as number | undefined;
  const remembered = known ?? settledFenceOfGone(tx.db, { id, now: tx.now });
  return remembered === fence;
}

interface Ending {
  readonly tx: Transaction;
  readonly queue: Queue;
  readonly id: string;
  /** Already out of the place of leases, and settled under its own fence. */
  readonly lease: HeldLease;
}

/** Writes the outcome; the table is in `core/outcome.ts`. Answers whether the job is gone with it. */
function conclude(ending: Ending, outcome: Outcome, isDiscarded: boolean): boolean {
  const { lease } = ending;
  if (lease.isCancelAsked && outcome.kind !== "succeed") {
    const failure = "failure" in outcome ? outcome.failure : null;
    const hasRun = outcome.kind !== "die" || outcome.ran;
    const why = { reason: lease.cancelReason, by: lease.cancelBy };
    return endUnhappily(ending, { as: "cancelled", ...why, failure, hasRun, isDiscarded });
  }
  switch (outcome.kind) {
    case "succeed": {
      const { result, resultDropped } = outcome;
      const finish: Finish = { ...finishOf(lease, "succeeded"), result, resultDropped };
      // The common case leaves no record: the job itself tells everything.
      const isRecorded = !isDiscarded && lease.attempts !== 1;
      if (isRecorded) record(ending, "succeeded", null);
      const hasPast = isRecorded || (lease.flags & HAS_PAST) !== 0;
      if (hasPast && !isDiscarded)
        noteDetails(ending.tx, lease.seq, { ...errorColumns(null), result: null });
      return finishOrBury(ending, finish, { hasPast, isDiscarded });
    }
    case "retry":
      record(ending, "failed", outcome.failure);
      goBack(ending, { ...outcome, isGivenBack: !outcome.spend });
      return false;
    case "snooze":
    case "release":
      goBack(ending, { afterMs: outcome.afterMs, isGivenBack: true, failure: null });
      return false;
    case "cancel": {
      const how = { reason: outcome.reason, by: null, failure: null, hasRun: true, isDiscarded };
      return endUnhappily(ending, { as: "cancelled", ...how });
    }
    case "die": {
      const { reason, failure, ran: hasRun } = outcome;
      return endUnhappily(ending, { as: "dead", reason, failure, hasRun, isDiscarded });
    }
  }
}

/** Dead or cancelled. What has not run spends no attempt and leaves no record. */
function endUnhappily(
  ending: Ending,
  how: {
    readonly as: "dead" | "cancelled";
    readonly reason: string | null;
    /** Absent: whoever was last stays. */
    readonly by?: string | null;
    readonly failure: Failure | null;
    readonly hasRun: boolean;
    readonly isDiscarded: boolean;
  },
): boolean {
  const { tx, lease } = ending;
  const { as, reason, failure, hasRun, isDiscarded } = how;
  if (!isDiscarded) {
    if (hasRun) record(ending, as === "dead" ? "failed" : "cancelled", failure);
    const error = failure === null ? {} : errorColumns(failure);
    const by = how.by === undefined ? {} : { by_whom: how.by };
    noteDetails(tx, lease.seq, { ...error, reason, ...by });
  }
  const attempts = lease.attempts - (hasRun ? 0 : lease.spent);
  const ended = { ...ending, lease: { ...lease, attempts } };
  return finishOrBury(ended, finishOf(lease, as), { hasPast: true, isDiscarded });
}

function finishOrBury(
  { tx, queue, id, lease }: Ending,
  finish: Finish,
  { hasPast, isDiscarded }: { readonly hasPast: boolean; readonly isDiscarded: boolean },
): boolean {
  tx.finishedJobs.push(id);
  const flags = lease.flags | (hasPast ? HAS_PAST : 0);
  if (isDiscarded) {
    freeKeyUntilFinished(tx, queue, lease);
    bury(tx, queue, { seq: lease.seq, id, settledFence: lease.fence, flags: lease.flags });
  } else {
    standFinished(tx, queue, { ...lease, flags }, finish);
  }
  return isDiscarded;
}

/** Back to its place in line, or among the delayed. Only what this lease added is given back. */
function goBack(
  { tx, queue, lease }: Ending,
  how: {
    readonly afterMs: number;
    readonly isGivenBack: boolean;
    readonly failure: Failure | null;
  },
): void {
  const { seq, leasedAt } = lease;
  const worker = tx.workers.nameOf(lease.w);
  const error = how.failure === null ? {} : errorColumns(how.failure);
  noteDetails(tx, seq, { started_at: leasedAt, worker, ...error });
  if (how.failure !== null && how.isGivenBack) addDeferral(tx, seq);
  const group = tx.lines.byNumber(lease.line).group;
  standInLine(tx, queue, group, {
    ...lease,
    attempts: lease.attempts - (how.isGivenBack ? lease.spent : 0),
    runAt: instantAfter(tx.now, how.afterMs),
    flags: lease.flags | HAS_PAST,
  });
}

function record(
  { tx, lease }: Ending,
  outcome: AttemptRecord["outcome"],
  failure: Failure | null,
): void {
  const { attempts: attempt, fence, leasedAt: startedAt } = lease;
  const worker = tx.workers.nameOf(lease.w);
  const { category = null, message = null, stack = null } = failure ?? {};
  const ended = { endedAt: tx.now, outcome, category, message, stack };
  addAttempt(tx, lease.seq, { attempt, fence, worker, startedAt, ...ended });
}

function finishOf({ leasedAt, w }: HeldLease, as: Finish["as"]): Finish {
  return { as, startedAt: leasedAt, w, result: null, resultDropped: false };
}

/** Spawned jobs and ledger entries. `parent` is null if it is gone: then nobody reads its log. */
function follow(tx: Transaction, settlement: Settlement, parent: HeldLease | null): void {
  const { spawn = [], entries = [], outbox = [], id, fence } = settlement;
  for (const child of spawn) {
    const result = insertOne(tx, child, true);
    if (parent === null) continue;
    if (result.outcome !== "duplicate" && result.outcome !== "conflict") continue;
    const why = result.outcome === "duplicate" ? "duplicate of" : "conflict with";
    addLogs(tx, parent.seq, [`spawned job ${child.id} dropped: ${why} ${result.id}`]);
    markPast(tx, parent);
  }
  // The next settle of this batch may look into the lines.
  tx.fresh.flush();
  if (entries.length > 0) append(tx, entries);
  if (outbox.length > 0) addToOutbox(tx, `${id}:${fence}`, outbox);
}

/** Wherever the parent stands now. */
function markPast(tx: Transaction, { seq, line, prio }: HeldLease): void {
  tx.db.run(MARK_DONE, seq);
  tx.db.run(MARK_LATER, seq);
  tx.db.run(MARK_READY, line, prio, seq);
}
