/**
 * Counts, through indexes alone, and of all queues at once: five thousand of them cost no more than one
 * with as many jobs. Delayed jobs whose time has come but that no lease has moved yet are counted as the
 * ready jobs they are.
 */
import { FINISHED_STATUSES, type FinishedStatus } from "../../core/job.ts";
import { COUNTED_TO } from "../../core/line.ts";
import type { DeadCount, DeadCountRequest, JobRef, QueueCounts } from "../../core/store.ts";
import type { CollectionName } from "./schema.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { LONG_PARTS } from "./job-view.ts";
import { lookUp } from "./look-up.ts";
import { countReady } from "./packs/fresh.ts";
import { seqAt } from "./packs/packs.ts";
import { rowsOfFinished } from "./sealed-counts.ts";
import { ANY, isTombstone, type FreshPack, type JobDocument } from "./schema.ts";

export async function count(db: Database): Promise<QueueCounts[]> {
  const [queues, now] = await Promise.all([
    db.find<{ _id: string }>("queues", {}, { projection: { _id: 1 } }),
    db.now(),
    db.options.clearing.done(),
  ]);
  const one = { $sum: 1 };
  // In this order: one that is leased between the two is counted as waiting, and not missed.
  const fresh = await byQueue(db, "fresh", { ready: ANY }, { n: { $sum: "$n" }, at: FRESH_AT });
  const since = { $min: { $ifNull: ["$runAt", "$createdAt"] } };
  const [ready, due, delayed, leased, again, ended] = await Promise.all([
    byQueue(db, "jobs", { ready: ANY }, { n: one, at: since }),
    byQueue(db, "jobs", { due: ANY, runAt: { $lte: now } }, { n: one, at: { $min: "$runAt" } }),
    byQueue(db, "jobs", { due: ANY, runAt: { $gt: now } }, { n: one }),
    byQueue(db, "jobs", { leased: ANY }, { n: { $sum: { $ifNull: ["$left", 1] } } }),
    byQueue(db, "jobs", { again: ANY }, { n: one }),
    endedByQueue(db),
  ]);
  const names = queues.map(({ _id }) => _id).sort();
  return names.map((queue): QueueCounts => {
    const of = (counts: Counts | undefined): number => counts?.get(queue)?.n ?? 0;
    const waiting = [fresh, ready, due];
    const oldest = waiting.flatMap((counts) => counts.get(queue)?.at ?? []);
    return {
      queue,
      ready: waiting.reduce((sum, counts) => sum + of(counts), 0),
      delayed: of(delayed),
      processing: of(leased),
      succeeded: of(ended.get("succeeded")),
      dead: of(ended.get("dead")),
      cancelled: of(ended.get("cancelled")),
      retrying: Math.min(COUNTED_TO, of(again)),
      oldestReadyAt: oldest.length === 0 ? null : Math.min(...oldest),
    };
  });
}

/** Of fresh ones it is in the index that finds them: nobody pays for it beyond these bytes. */
const FRESH_AT = { $min: "$createdAt" };

type Counts = ReadonlyMap<string, { readonly n: number; readonly at?: number }>;

/** `where` begins with the field that names the queue. */
async function byQueue(
  db: Database,
  name: CollectionName,
  where: Document,
  counted: Document,
): Promise<Counts> {
  const [field = ""] = Object.keys(where);
  const stages = [{ $match: where }, { $group: { _id: `$${field}`, ...counted } }];
  const found = await db.aggregate<{ _id: string; n: number; at?: number }>(name, stages, field);
  return new Map(found.map(({ _id, ...one }) => [_id, one]));
}

/** By the seals, and a pass over what is open. */
export async function endedByQueue(db: Database): Promise<ReadonlyMap<FinishedStatus, Counts>> {
  const rows = await rowsOfFinished<Ended>(db, {
    sealed: (which) =>
      db.aggregate("stretches", [
        { $match: which },
        { $unwind: "$sum.ended" },
        { $replaceWith: "$sum.ended" },
        { $group: { _id: { status: "$status", queue: "$queue" }, n: { $sum: "$n" } } },
        { $replaceWith: { status: "$_id.status", queue: "$_id.queue", n: "$n" } },
      ]),
    pass: async (finishedAt) =>
      (
        await Promise.all(FINISHED_STATUSES.map((status) => endedIn(db, status, finishedAt)))
      ).flat(),
  });
  const counts = new Map(
    FINISHED_STATUSES.map((status) => [status, new Map<string, { n: number }>()]),
  );
  for (const { status, queue, n } of rows) {
    const ofStatus = counts.get(status);
    ofStatus?.set(queue, { n: n + (ofStatus.get(queue)?.n ?? 0) });
  }
  return counts;
}

interface Ended {
  readonly status: FinishedStatus;
  readonly queue: string;
  readonly n: number;
}

/** By a pass. How many jobs have ended so: also those in packs of which others are still running. */
export async function endedIn(
  db: Database,
  status: FinishedStatus,
  finishedAt: Document,
): Promise<Ended[]> {
  const isPartly = { $eq: ["$status", "processing"] };
  const n = { $ifNull: ["$n", 1] };
  const ended = { $cond: [isPartly, { $subtract: [n, "$left"] }, n] };
  const statuses = status === "succeeded" ? [status, "processing"] : [status];
  const found = await db.aggregate<{ _id: string; n: number }>(
    "jobs",
    [
      { $match: { status: { $in: statuses }, finishedAt } },
      { $group: { _id: "$queue", n: { $sum: ended } } },
    ],
    "finished",
  );
  return found.map(({ _id: queue, n: jobs }) => ({ status, queue, n: jobs }));
}

const DEAD_FIELDS: Readonly<Record<DeadCountRequest["by"], string>> = {
  fingerprint: "error.fingerprint",
  category: "error.category",
  type: "type",
  queue: "queue",
  group: "group",
};

/** By the index of dead jobs, and what is known of the sealed ones; then the ids of the examples. */
export async function countDead(
  db: Database,
  { by, queue, limit }: DeadCountRequest,
): Promise<DeadCount[]> {
  if (limit <= 0) return [];
  const ofQueue = queue === undefined ? {} : { queue };
  const _id = `$${DEAD_FIELDS[by]}`;
  const newest = { $max: { at: "$finishedAt", seq: "$seq" } };
  const each = { count: { $sum: 1 }, firstAt: { $min: "$finishedAt" }, newest };
  const known = { firstAt: { $min: "$firstAt" }, newest: { $max: "$newest" } };
  const most = [{ $sort: { count: -1, _id: 1 } }, { $limit: limit }];
  const rows = await rowsOfFinished<Counted>(db, {
    sealed: (which) =>
      db.aggregate("stretches", [
        { $match: which },
        { $unwind: "$sum.dead" },
        { $replaceWith: "$sum.dead" },
        { $match: ofQueue },
        { $group: { _id, count: { $sum: "$count" }, ...known } },
      ]),
    pass: (finishedAt, isAll) =>
      db.aggregate(
        "jobs",
        [
          { $match: { halted: "dead", finishedAt, ...ofQueue } },
          { $group: { _id, ...each } },
          ...[{ $set: { count: { $min: ["$count", COUNTED_TO] } } }, ...(isAll ? most : [])],
        ],
        "fallen",
      ),
  });
  const found = [...Map.groupBy(rows, (row) => row._id).values()]
    .map(together)
    .sort((a, b) => b.count - a.count || ((a._id ?? "") < (b._id ?? "") ? -1 : 1))
    .slice(0, limit);
  const seqs = found.map((one) => one.newest.seq);
  const projection = { seq: 1 };
  const jobs = await db.find<JobDocument>("jobs", { seq: { $in: seqs } }, { projection });
  const ids = new Map(jobs.map(({ _id: id, seq }) => [seq, id]));
  return found.flatMap(({ _id: key, count: n, firstAt, newest: { at: lastAt, seq } }) => {
    const example = ids.get(seq);
    // Gone since: the others of its kind are counted the next time.
    return example === undefined ? [] : [{ key, count: n, firstAt, lastAt, example }];
  });
}

interface Counted extends Pick<DeadCount, "count" | "firstAt"> {
  readonly _id: string | null;
  readonly newest: { readonly at: number; readonly seq: number };
}

function together(rows: readonly Counted[]): Counted {
  return rows.reduce((a, b) => ({
    _id: a._id,
    count: Math.min(a.count + b.count, COUNTED_TO),
    firstAt: Math.min(a.firstAt, b.firstAt),
    newest: isAfter(a.newest, b.newest) ? a.newest : b.newest,
  }));
}

function isAfter(a: Counted["newest"], b: Counted["newest"]): boolean {
  return a.at !== b.at ? a.at > b.at : a.seq > b.seq;
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
