/** New jobs and their keys: what the store must answer, and what is true afterwards. */
import type { NewJob } from "../../../packages/holdfast/src/core/job.ts";
import type { InsertResult } from "../../../packages/holdfast/src/core/store.ts";
import type { Book } from "./book.ts";
import type { JobFacts } from "./job-facts.ts";

/** The order of the questions is part of the promise: id, then key, then room. */
export function expectedInsert(book: Book, job: NewJob, evenIfFull: boolean): InsertResult {
  const { id } = job;
  const same = book.jobs.get(id);
  if (same) return { outcome: "duplicate", id, status: same.status };
  if (book.memoryOf(id)) return { outcome: "duplicate", id, status: "pruned" };
  const queue = book.queue(job.queue);
  const holder = job.dedupe && book.keyHolder(queue, job.dedupe.key);
  if (holder) {
    return {
      outcome: holder.hash === job.dedupe?.hash ? "duplicate" : "conflict",
      id: holder.jobId,
      status: book.jobs.get(holder.jobId)?.status ?? "pruned",
    };
  }
  if (!evenIfFull && queue.maxWaiting !== null && queue.waiting >= queue.maxWaiting) {
    return { outcome: "full", maxWaiting: queue.maxWaiting };
  }
  return { outcome: "added", id };
}

export function applyInsert(book: Book, job: NewJob): JobFacts {
  const { now } = book.clock;
  const facts: JobFacts = {
    id: job.id,
    seq: (book.lastSeq += 1),
    queue: job.queue,
    group: job.group,
    type: job.type,
    priority: job.priority,
    createdAt: now,
    payload: job.payload,
    status: "queued",
    place: "gone",
    maxAttempts: job.maxAttempts,
    attempts: 0,
    crashes: 0,
    deferrals: 0,
    fence: 0,
    settledFence: null,
    runAt: job.runAt ?? book.clock.after(job.delayMs),
    finishedAt: null,
    lease: null,
    cancelAsked: false,
    checkpoint: null,
    steps: new Map(),
    dedupe: job.dedupe && { ...job.dedupe },
    endings: new Set(),
    spentStarts: 0,
    startedFences: new Set(),
    savedNumber: 0,
    idleLeases: 0,
    idleSince: now,
    slot: 0,
  };
  book.gone.delete(job.id);
  book.jobs.set(job.id, facts);
  takeKey(book, facts);
  book.stand(facts, facts.runAt <= now ? "ready" : "delayed");
  return facts;
}

/** Takes the job's key if it still lives and nobody else has it. */
export function takeKey(book: Book, job: JobFacts): void {
  if (!job.dedupe) return;
  const { key, hash, lifetime } = job.dedupe;
  const queue = book.queue(job.queue);
  const expiresAt =
    typeof lifetime === "object" ? job.createdAt + Math.max(0, Math.ceil(lifetime.ttlMs)) : null;
  if (expiresAt !== null && expiresAt <= book.clock.now) return;
  if (book.keyHolder(queue, key)) return;
  queue.keys.set(key, { jobId: job.id, hash, expiresAt });
}

/** Only its own: another job may have the key by now. */
export function freeKey(book: Book, job: JobFacts): void {
  const { keys } = book.queue(job.queue);
  if (job.dedupe && keys.get(job.dedupe.key)?.jobId === job.id) keys.delete(job.dedupe.key);
}
