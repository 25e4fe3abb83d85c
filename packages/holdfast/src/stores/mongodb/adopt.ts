/**
 * Adopting keeps a job's past as it was elsewhere: attempts, fence, times, history. What stays behind
 * is its lease and with it the memory of its last settle; the fence still only grows from here.
 */
import { randomUUID } from "node:crypto";
import { HISTORY_LENGTH, LOG_LENGTH, type AdoptedJob } from "../../core/job.ts";
import type { InsertResult } from "../../core/store.ts";
import type { Database } from "./database.ts";
import { addDocuments } from "./insert.ts";
import { keyOf } from "./keys.ts";
import { haltedBy } from "./moves.ts";
import { knowQueues } from "./queue-book.ts";
import type { JobDocument } from "./schema.ts";
import { inLine, isSoon, NOWHERE } from "./placement.ts";
import { whileOpen } from "./stretches.ts";
import type { Told } from "./told.ts";

export async function adopt(
  db: Database,
  jobs: readonly AdoptedJob[],
  told: Told,
): Promise<InsertResult[]> {
  const since = Date.now();
  const [, { first, now }] = await Promise.all([
    knowQueues(
      db,
      jobs.map(({ queue }) => queue),
    ),
    db.reserve(jobs.length),
  ]);
  const documents = jobs.map((job, index) => adoptedDocument(job, { seq: first + index, now }));
  const times = documents.map(({ finishedAt }) => finishedAt);
  const add = () => addDocuments(db, documents, { now });
  const results = await whileOpen(db, { since, times }, add);
  for (const [index, { outcome }] of results.entries()) {
    const job = documents[index];
    if (outcome !== "added" || job?.status !== "queued") continue;
    if (isSoon({ runAt: job.runAt, now })) told.queues.add(job.queue);
  }
  return results;
}

function adoptedDocument(
  job: AdoptedJob,
  { seq, now }: { readonly seq: number; readonly now: number },
): JobDocument {
  const { id, dedupe, logs, history, steps, tags, finishedAt, ...rest } = job;
  const { queue, status, runAt } = job;
  return {
    ...rest,
    _id: id,
    ids: id,
    v: randomUUID(),
    seq,
    deferrals: 0,
    updatedAt: now,
    dedupe: dedupe === null ? null : { ...dedupe },
    logs: orNull(logs.slice(-LOG_LENGTH)),
    history: orNull(history.slice(-HISTORY_LENGTH)),
    steps: orNull(steps),
    tags: orNull(tags),
    halted: haltedBy(status),
    again: status === "queued" && job.attempts > 0 ? queue : null,
    finishedAt: status === "queued" ? null : (finishedAt ?? now),
    ...keyOf(job, now),
    ...(status === "queued" ? inLine(queue, { runAt, now }) : NOWHERE),
  };
}

function orNull<T>(items: readonly T[]): readonly T[] | null {
  return items.length === 0 ? null : items;
}
