/**
 * The lock of a queue, for one at a time: leases under caps, and inserts into a queue that may be full.
 * It is kept in the queue's own document, with a time after which others may have it, so that a process
 * that dies with it keeps it for a moment only.
 *
 * A process that was stopped with it may come back when others have had it: whoever must be exact asks
 * afterwards whether the lock is still his, and takes back what he did if it is not.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { StoreUnavailableError } from "../../core/errors.ts";
import { LIGHTLY, type Database } from "./database.ts";
import type { QueueDocument } from "./schema.ts";

const LOCKED_FOR_MS = 5_000;
const TRY_AGAIN_MS = 4;

export interface QueueLock {
  /** As it is since the lock was had: while one waited for it, much may have changed. */
  readonly queue: QueueDocument;
  /** Has nobody else had it since? */
  isOurs(): Promise<boolean>;
}

export async function withQueueLock<T>(
  db: Database,
  queue: string,
  work: (lock: QueueLock) => Promise<T>,
): Promise<T> {
  const by = randomUUID();
  const locked = await acquire(db, queue, by);
  const isOurs = async (): Promise<boolean> => {
    const filter = { _id: queue, "lock.by": by };
    return (await db.find("queues", filter, { projection: { _id: 1 } })).length === 1;
  };
  try {
    return await work({ queue: locked, isOurs });
  } finally {
    const released = db
      .collection("queues")
      .updateOne({ _id: queue, "lock.by": by }, { $unset: { lock: "" } }, LIGHTLY);
    // If it fails, the lock ends by itself.
    await released.catch(() => {});
  }
}

async function acquire(db: Database, queue: string, by: string): Promise<QueueDocument> {
  const lateAt = performance.now() + db.options.deadlineMs;
  while (performance.now() < lateAt) {
    const now = await db.now();
    const isFree = { $or: [{ lock: { $exists: false } }, { "lock.until": { $lte: now } }] };
    const lock = { by, until: now + LOCKED_FOR_MS };
    const filter = { _id: queue, ...isFree };
    const locked = await db.findOneAndUpdate("queues", filter, { $set: { lock } }, LIGHTLY);
    if (locked !== null) return locked as unknown as QueueDocument;
    await sleep(1 + Math.random() * TRY_AGAIN_MS);
  }
  const message = `too many callers lease from the capped queue ${queue}: try again`;
  throw new StoreUnavailableError(message, { mayHaveHappened: false });
}
