/** How attempts and jobs end: settles, and the three moves every verb makes in the end. */
import type { FinishedStatus } from "../../../packages/holdfast/src/core/job.ts";
import type { Outcome } from "../../../packages/holdfast/src/core/outcome.ts";
import type { Settlement, SettleResult } from "../../../packages/holdfast/src/core/store.ts";
import { applyInsert, expectedInsert, freeKey } from "./apply-insert.ts";
import type { Book } from "./book.ts";
import { applyUpdates, isHolder } from "./holder.ts";
import type { JobFacts } from "./job-facts.ts";

export function expectedSettle(book: Book, { id, fence }: Settlement): SettleResult {
  const job = book.jobs.get(id);
  if (isHolder(job, fence)) return "settled";
  const remembered = job ?? book.memoryOf(id);
  return remembered?.settledFence === fence ? "settled" : "lost";
}

/** Does nothing if the settle is stale or the repeat of one that happened. */
export function applySettle(book: Book, settlement: Settlement): void {
  const job = book.jobs.get(settlement.id);
  if (!isHolder(job, settlement.fence)) return;
  applyUpdates(job, settlement.updates, settlement.fence);
  job.settledFence = job.fence;
  conclude(book, job, settlement.outcome);
  if (settlement.discard && job.finishedAt !== null) bury(book, job);
  for (const child of settlement.spawn ?? []) {
    if (expectedInsert(book, child, true).outcome === "added") applyInsert(book, child);
  }
  for (const { id } of settlement.entries ?? []) book.entries.add(id);
  for (const { id } of settlement.outbox ?? []) book.promisedEntries.add(id);
}

function conclude(book: Book, job: JobFacts, outcome: Outcome): void {
  const isTakenBack =
    outcome.kind === "snooze" ||
    outcome.kind === "release" ||
    (outcome.kind === "retry" && !outcome.spend) ||
    (outcome.kind === "die" && !outcome.ran);
  if (job.cancelAsked && outcome.kind !== "succeed") {
    // What was never started is given back even so; the rest stays as the cancelled job's last try.
    if (outcome.kind === "die" && !outcome.ran) giveBack(job);
    endCancelled(book, job);
    return;
  }
  if (isTakenBack) giveBack(job);
  switch (outcome.kind) {
    case "succeed":
      finish(book, job, "succeeded");
      return;
    case "retry":
      if (!outcome.spend) job.deferrals += 1;
      requeue(book, job, book.clock.after(outcome.afterMs));
      return;
    case "snooze":
    case "release":
      requeue(book, job, book.clock.after(outcome.afterMs));
      return;
    case "cancel":
      endCancelled(book, job);
      return;
    case "die":
      finish(book, job, "dead");
      return;
  }
}

/** What this lease added is taken off again, and a handler that started under it does not count. */
export function giveBack(job: JobFacts): void {
  job.attempts -= job.lease?.spent ?? 0;
  if (job.startedFences.delete(job.fence)) job.spentStarts -= 1;
}

export function endCancelled(book: Book, job: JobFacts): void {
  finish(book, job, "cancelled");
}

export function requeue(book: Book, job: JobFacts, runAt: number): void {
  endLease(job);
  job.status = "queued";
  job.runAt = runAt;
  job.finishedAt = null;
  book.stand(job, runAt <= book.clock.now ? "ready" : "delayed");
}

/** Deletes the job; its id and last settle are remembered, with a key that has a time of its own. */
export function bury(book: Book, job: JobFacts): void {
  const { keys } = book.queue(job.queue);
  const key = job.dedupe && keys.get(job.dedupe.key);
  const keyEndsAt = key?.jobId === job.id ? key.expiresAt : null;
  if (keyEndsAt === null) freeKey(book, job);
  const forgetAt = Math.max(book.clock.now + book.remembersMs, keyEndsAt ?? 0);
  const { settledFence, endings } = job;
  book.gone.set(job.id, { settledFence, endings, forgetAt });
  book.stand(job, "gone");
}

function finish(book: Book, job: JobFacts, status: FinishedStatus): void {
  endLease(job);
  job.status = status;
  job.finishedAt = book.clock.now;
  job.endings.add(status);
  if (job.dedupe?.lifetime === "until-finished") freeKey(book, job);
  book.stand(job, status);
}

function endLease(job: JobFacts): void {
  job.lease = null;
  job.cancelAsked = false;
}
