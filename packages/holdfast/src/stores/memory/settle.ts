/**
 * Settling. Under the current fence everything is written, under any other nothing. The order inside
 * the one step: updates, outcome, spawned jobs, entries. The outcome comes before the spawned jobs so
 * that a child may take the key its parent has just freed.
 */
import { historyWith, recordedAs } from "../../core/history.ts";
import { isFinished } from "../../core/job.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Settlement, SettleResult } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import { insertOne } from "./insert.ts";
import { bury, endCancelled, finish, requeue, tombstoneOf } from "./moves.ts";
import { addLogs, jobHeldBy, takeAlong } from "./renew.ts";
import { copies } from "./snapshot.ts";
import type { MemoryJob, MemoryState } from "./state.ts";

export function settle(state: MemoryState, settlements: readonly Settlement[]): SettleResult[] {
  const now = state.clock.now();
  return settlements.map((settlement) => settleOne(state, settlement, now));
}

function settleOne(state: MemoryState, settlement: Settlement, now: number): SettleResult {
  const job = jobHeldBy(state, settlement);
  if (job === null) return wasSettled(state, settlement, now) ? "settled" : "lost";
  takeAlong(job, { updates: settlement.updates ?? {}, now });
  job.settledFence = job.fence;
  conclude(state, job, { outcome: settlement.outcome, now });
  if (settlement.discard === true && isFinished(job.status)) bury(state, job, now);
  spawn(state, job, { settlement, now });
  state.ledger.append(settlement.entries ?? [], now);
  const { outbox = [] } = settlement;
  if (outbox.length > 0) {
    const id = `${job.id}:${job.fence}`;
    state.outbox.set(id, { id, kind: "entries", entries: copies(outbox) });
  }
  return "settled";
}

/** Is this the repeat of the job's last settle? A job that is gone is asked through its tombstone. */
function wasSettled(state: MemoryState, { id, fence }: Settlement, now: number): boolean {
  const remembered = state.jobs.get(id) ?? tombstoneOf(state, id, now);
  return remembered?.settledFence === fence;
}

/** Writes the outcome; the table is in `core/outcome.ts`. */
function conclude(
  state: MemoryState,
  job: MemoryJob,
  { outcome, now }: { readonly outcome: Outcome; readonly now: number },
): void {
  const failure = "failure" in outcome ? outcome.failure : null;
  if (failure !== null) job.error = { ...failure };
  const stopWhy = outcome.kind === "succeed" ? null : job.cancelWhy;
  const hasRun = outcome.kind !== "die" || outcome.ran;
  const recorded = stopWhy !== null && hasRun ? "cancelled" : recordedAs(job, outcome);
  if (recorded !== null) job.history = historyWith(job, { outcome: recorded, failure, now });
  if (!hasRun) giveBack(job);
  if (stopWhy !== null) {
    endCancelled(state, job, { why: stopWhy, now });
    return;
  }
  switch (outcome.kind) {
    case "succeed":
      job.result = outcome.result;
      job.resultDropped = outcome.resultDropped;
      job.error = null;
      finish(state, job, { as: "succeeded", now });
      return;
    case "retry":
      if (!outcome.spend) {
        giveBack(job);
        job.deferrals++;
      }
      requeue(state, job, { runAt: instantAfter(now, outcome.afterMs), now });
      return;
    case "snooze":
    case "release":
      giveBack(job);
      requeue(state, job, { runAt: instantAfter(now, outcome.afterMs), now });
      return;
    case "cancel":
      endCancelled(state, job, { why: { reason: outcome.reason, by: null }, now });
      return;
    case "die":
      job.reason = outcome.reason;
      finish(state, job, { as: "dead", now });
      return;
  }
}

/** Takes back what this lease added: an exhausted one added nothing. */
function giveBack(job: MemoryJob): void {
  job.attempts -= job.leaseSpent;
}

function spawn(
  state: MemoryState,
  parent: MemoryJob,
  { settlement, now }: { readonly settlement: Settlement; readonly now: number },
): void {
  for (const child of settlement.spawn ?? []) {
    const result = insertOne(state, child, { now, evenIfFull: true });
    if (result.outcome !== "duplicate" && result.outcome !== "conflict") continue;
    const why = result.outcome === "duplicate" ? "duplicate of" : "conflict with";
    addLogs(parent, [`spawned job ${child.id} dropped: ${why} ${result.id}`], now);
  }
}
