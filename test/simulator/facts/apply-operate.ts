/** What an operator's hand changes: jobs one by one, holds and caps of queues and lines. */
import type { HoldChange, LimitChange } from "../../../packages/holdfast/src/core/line.ts";
import type { Due, Revival } from "../../../packages/holdfast/src/core/store.ts";
import { bury, endCancelled, requeue } from "./apply-end.ts";
import { freeKey, takeKey } from "./apply-insert.ts";
import type { Book } from "./book.ts";
import type { JobFacts } from "./job-facts.ts";

export type Operation =
  | { readonly verb: "cancel" }
  | { readonly verb: "revive"; readonly how: Revival }
  | { readonly verb: "reschedule"; readonly due: Due }
  | { readonly verb: "remove" };

export type OperationResult = "done" | "asked" | "refused";

export function expectedOperation(job: JobFacts, { verb }: Operation): OperationResult {
  const { status } = job;
  switch (verb) {
    case "cancel":
      if (status === "processing") return "asked";
      return status === "queued" || status === "cancelled" ? "done" : "refused";
    case "revive":
      return status === "dead" || status === "cancelled" ? "done" : "refused";
    case "reschedule":
      return status === "queued" ? "done" : "refused";
    case "remove":
      return status === "processing" ? "refused" : "done";
  }
}

export function applyOperation(book: Book, job: JobFacts, operation: Operation): void {
  if (expectedOperation(job, operation) === "refused") return;
  switch (operation.verb) {
    case "cancel":
      if (job.status === "processing") job.cancelAsked = true;
      else if (job.status === "queued") endCancelled(book, job);
      return;
    case "revive":
      revive(book, job, operation.how);
      return;
    case "reschedule":
      job.runAt = dueAt(book, operation.due);
      book.stand(job, job.runAt <= book.clock.now ? "ready" : "delayed");
      return;
    case "remove":
      freeKey(book, job);
      bury(book, job);
      return;
  }
}

function revive(book: Book, job: JobFacts, how: Revival): void {
  if (how.payload) {
    job.payload = how.payload.json;
    job.checkpoint = null;
    job.savedNumber = 0;
    job.steps.clear();
    const key = job.dedupe && book.queue(job.queue).keys.get(job.dedupe.key);
    if (job.dedupe && how.payload.hash !== null) {
      job.dedupe.hash = how.payload.hash;
      if (key?.jobId === job.id) key.hash = how.payload.hash;
    }
  }
  job.crashes = 0;
  job.deferrals = 0;
  job.maxAttempts = job.attempts + how.attempts;
  requeue(book, job, dueAt(book, how));
  if (job.dedupe?.lifetime === "until-finished") takeKey(book, job);
}

function dueAt(book: Book, due: Due): number {
  return due.runAt ?? book.clock.after(due.delayMs);
}

export function applyHold(book: Book, change: HoldChange): void {
  const { group, owner, hold } = change;
  const place = group === null ? book.queue(change.queue) : book.line(change.queue, group);
  if (hold === null) place.holds.delete(owner);
  else place.holds.set(owner, hold.forMs === null ? null : book.clock.after(hold.forMs));
  book.wokenQueues.add(change.queue);
}

export function applyLimit(book: Book, change: LimitChange): void {
  book.wokenQueues.add(change.queue);
  if (change.group === null) {
    const queue = book.queue(change.queue);
    if (change.maxActive !== undefined) queue.maxActive = change.maxActive;
    if (change.maxActivePerGroup !== undefined) queue.maxActivePerGroup = change.maxActivePerGroup;
    if (change.maxWaiting !== undefined) queue.maxWaiting = change.maxWaiting;
    return;
  }
  const line = book.line(change.queue, change.group);
  if (change.maxActive !== undefined) line.maxActive = change.maxActive;
  if (change.weight !== undefined) line.weight = change.weight ?? 1;
}
