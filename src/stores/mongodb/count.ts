/**
 * Counts, through indexes alone. Delayed jobs whose time has come but that no lease has moved yet are
 * counted as the ready jobs they are.
 */
import { FINISHED_STATUSES } from "../../core/job.ts";
import { COUNTED_TO } from "../../core/line.ts";
import type { JobRef, QueueCounts } from "../../core/store.ts";
import type { Database } from "./database.ts";
import { ENDED, isTombstone, type AnyJob } from "./schema.ts";
import { wholeJob } from "./whole-job.ts";

export async function count(db: Database): Promise<QueueCounts[]> {
  const [queues, now] = await Promise.all([
    db.find<{ _id: string }>("queues", {}, { projection: { _id: 1 } }),
    db.now(),
  ]);
  const names = queues.map(({ _id }) => _id).sort();
  const counts: QueueCounts[] = [];
  for (const queue of names) counts.push(await countOne(db, queue, now));
  return counts;
}

async function countOne(db: Database, queue: string, now: number): Promise<QueueCounts> {
  const [ready, due, delayed, processing, ...finished] = await Promise.all([
    db.count("jobs", { ready: queue }),
    db.count("jobs", { due: queue, runAt: { $lte: now } }),
    db.count("jobs", { due: queue, runAt: { $gt: now } }),
    db.count("jobs", { leased: queue }),
    ...FINISHED_STATUSES.map((status) => db.count("jobs", { queue, status, finishedAt: ENDED })),
  ]);
  const [succeeded = 0, dead = 0, cancelled = 0] = finished;
  return { queue, ready: ready + due, delayed, processing, succeeded, dead, cancelled };
}

/** How many ready jobs are before it in its line, moved into the line already or not. */
export async function place(db: Database, { id }: JobRef): Promise<number | null> {
  const projection = {
    queue: 1,
    group: 1,
    priority: 1,
    seq: 1,
    status: 1,
    runAt: 1,
    createdAt: 1,
    gone: 1,
  };
  const [found, now] = await Promise.all([
    db.find<AnyJob>("jobs", { _id: id }, { projection }),
    db.now(),
  ]);
  const [job] = found;
  if (job === undefined || isTombstone(job)) return null;
  const { queue, group, priority, seq, status, runAt } = wholeJob(job);
  if (status !== "queued" || runAt > now) return null;
  const isBefore = {
    group,
    $or: [{ priority: { $lt: priority } }, { priority, seq: { $lt: seq } }],
  };
  const [ready, due] = await Promise.all([
    db.count("jobs", { ready: queue, ...isBefore }, COUNTED_TO),
    db.count("jobs", { due: queue, runAt: { $lte: now }, ...isBefore }, COUNTED_TO),
  ]);
  return Math.min(COUNTED_TO, ready + due);
}
