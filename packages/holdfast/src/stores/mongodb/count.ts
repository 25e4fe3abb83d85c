/**
 * Counts, through indexes alone. Delayed jobs whose time has come but that no lease has moved yet are
 * counted as the ready jobs they are.
 */
import { COUNTED_TO } from "../../core/line.ts";
import type { JobRef, QueueCounts } from "../../core/store.ts";
import type { Database } from "./database.ts";
import { countReady } from "./packs/fresh.ts";
import { LONG_PARTS } from "./job-view.ts";
import { lookUp } from "./look-up.ts";
import { seqAt } from "./packs/packs.ts";
import { ENDED, isTombstone, type FreshPack, type JobDocument } from "./schema.ts";

export async function count(db: Database): Promise<QueueCounts[]> {
  const [queues, now] = await Promise.all([
    db.find<{ _id: string }>("queues", {}, { projection: { _id: 1 } }),
    db.now(),
    db.options.clearing.done(),
  ]);
  const names = queues.map(({ _id }) => _id).sort();
  const counts: QueueCounts[] = [];
  for (const queue of names) counts.push(await countOne(db, queue, now));
  return counts;
}

async function countOne(db: Database, queue: string, now: number): Promise<QueueCounts> {
  const [ready, due, delayed, processing, partly, succeeded, ...halted] = await Promise.all([
    countReady(db, { ready: queue }),
    db.count("jobs", { due: queue, runAt: { $lte: now } }),
    db.count("jobs", { due: queue, runAt: { $gt: now } }),
    db.sum("jobs", { leased: queue }, { field: "left" }),
    endedInPacks(db, queue),
    db.sum("jobs", { queue, status: "succeeded", finishedAt: ENDED }, { field: "n" }),
    ...HALTED.map((status) => db.count("jobs", { queue, status, finishedAt: ENDED })),
  ]);
  const [dead = 0, cancelled = 0] = halted;
  const waiting = { ready: ready + due, delayed };
  return { queue, ...waiting, processing, succeeded: succeeded + partly, dead, cancelled };
}

const HALTED = ["dead", "cancelled"] as const;

/** The jobs that have succeeded in packs of which others are still running. */
export async function endedInPacks(db: Database, queue: string): Promise<number> {
  const [counted] = await db.aggregate<{ readonly jobs: number }>("jobs", [
    { $match: { queue, status: "processing", finishedAt: ENDED } },
    { $group: { _id: null, jobs: { $sum: { $subtract: ["$n", "$left"] } } } },
  ]);
  return counted?.jobs ?? 0;
}

/** How many ready jobs are before it in its line, moved into the line already or not. */
export async function place(db: Database, { id }: JobRef): Promise<number | null> {
  const [{ jobs }, now] = await Promise.all([lookUp(db, [id], LONG_PARTS), db.now()]);
  const job = jobs.get(id);
  if (job === undefined || isTombstone(job)) return null;
  const { queue, group, priority, seq, status, runAt } = job;
  if (status !== "queued" || runAt > now) return null;
  const isBefore = {
    group,
    $or: [{ priority: { $lt: priority } }, { priority, seq: { $lt: seq } }],
  };
  const [ready, due, notBefore] = await Promise.all([
    countReady(db, { ready: queue, ...isBefore }, COUNTED_TO),
    db.count("jobs", { due: queue, runAt: { $lte: now }, ...isBefore }, COUNTED_TO),
    inPackBehind(db, job),
  ]);
  return Math.min(COUNTED_TO, ready + due - notBefore);
}

/** A pack counts as before it if its first job is. How many in it are not? */
async function inPackBehind(db: Database, job: JobDocument): Promise<number> {
  const { queue, group, priority, seq } = job;
  const before = { ready: queue, group, priority, seq: { $lt: seq } };
  const sort = { ready: -1, group: -1, priority: -1, seq: -1 };
  const [pack] = await db.find<FreshPack>("fresh", before, { sort, limit: 1 });
  return pack?.ids.filter((_, index) => seqAt(pack, index) >= seq).length ?? 0;
}
