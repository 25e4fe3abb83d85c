/** Clears what has expired, in bounded steps. Nobody saw it any more: every reader checks the time itself. */
import { QUEUE_REMEMBERED_MS } from "../../core/line.ts";
import type { Database } from "./database.ts";
import { forgetDisowned } from "./disown.ts";
import type { Document } from "./driver-like.ts";
import { forget } from "./packs/fresh.ts";
import { tidyPacks } from "./packs/unpack.ts";
import type { CollectionName } from "./schema.ts";

/** So many of each kind, or more if more is pruned. */
const AT_LEAST = 1_000;
/** Queues that are looked through for jobs. */
const QUEUES_AT_ONCE = 200;

const ABSENT = { $exists: false };

export async function sweep(db: Database, now: number, limit: number): Promise<void> {
  const atMost = Math.max(AT_LEAST, limit);
  // First: a pack that is not yet taken apart must not bring back a job that is forgotten.
  await tidyPacks(db, now, atMost);
  await forget(db, { gone: { $lte: now }, followUps: ABSENT }, atMost);
  await deleteRecords(db, { expiresAt: { $lte: now } }, atMost);
  await forgetDisowned(db, now);
  const isIdle = { maxActive: ABSENT, weight: ABSENT };
  await db.deleteMany("lines", { ...isIdle, holds: notInForce(now) });
  await forgetQueues(db, now);
}

function notInForce(now: number): Document {
  return { $not: { $elemMatch: { $or: [{ until: null }, { until: { $gt: now } }] } } };
}

/** A record that was written again meanwhile does not fit any more, and stays. */
async function deleteRecords(db: Database, filter: Document, limit: number): Promise<void> {
  const look = { limit, projection: { _id: 1 } };
  const found = await db.find<{ _id: string }>("records", filter, look);
  if (found.length === 0) return;
  await db.deleteMany("records", { ...filter, _id: { $in: found.map(({ _id }) => _id) } });
}

/**
 * Queues that nobody has used for an hour. Those that have jobs are looked at again in an hour; the others
 * go, unless somebody uses them at this moment, who would have said so (`queue-book.ts`).
 */
async function forgetQueues(db: Database, now: number): Promise<void> {
  const caps = { maxActive: ABSENT, maxActivePerGroup: ABSENT, maxWaiting: ABSENT };
  const isUnused = { usedAt: { $not: { $gt: now - QUEUE_REMEMBERED_MS } } };
  const isIdle = { ...isUnused, ...caps, holds: notInForce(now) };
  const look = { limit: QUEUES_AT_ONCE, projection: { _id: 1 } };
  const found = await db.find<{ _id: string }>("queues", isIdle, look);
  if (found.length === 0) return;
  const names = found.map(({ _id }) => _id);
  const busy = new Set(await queuesWithJobs(db, names));
  const kept = names.filter((name) => busy.has(name));
  const empty = names.filter((name) => !busy.has(name));
  if (kept.length > 0) {
    await db.updateMany("queues", { _id: { $in: kept } }, { $set: { usedAt: now } });
  }
  if (empty.length > 0) await db.deleteMany("queues", { ...isIdle, _id: { $in: empty } });
}

/** From queue to queue through the indexes: of each the first job, or line with settings. */
async function queuesWithJobs(db: Database, names: readonly string[]): Promise<string[]> {
  const named = { $in: names };
  const found = await Promise.all([
    firstOfEach(db, "fresh", { ready: named }, "group"),
    firstOfEach(db, "jobs", { queue: named, seq: { $gt: 0 } }, "seq"),
    firstOfEach(db, "jobs", { queue: named, first: { $gt: 0 } }, "first"),
    firstOfEach(db, "lines", { queue: named }, "group"),
  ]);
  return found.flat().map(({ _id }) => _id);
}

function firstOfEach(
  db: Database,
  name: CollectionName,
  where: Document,
  next: string,
): Promise<{ readonly _id: string }[]> {
  const [field = ""] = Object.keys(where);
  const $sort = { [field]: 1, [next]: 1 };
  return db.aggregate(name, [{ $match: where }, { $sort }, { $group: { _id: `$${field}` } }]);
}
