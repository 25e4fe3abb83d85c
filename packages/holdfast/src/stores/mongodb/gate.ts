/**
 * One at a time through the gate of a queue: leases under caps, and inserts into a queue that may be
 * full. It stands in the queue's own document, with a time after which others may pass, so that a
 * process that dies inside shuts it for a moment only.
 *
 * A process that was stopped inside may come back when others have passed: whoever must be exact asks
 * afterwards whether the gate is still his, and takes back what he did if it is not.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { StoreUnavailableError } from "../../core/errors.ts";
import { LIGHTLY, type Database } from "./database.ts";

const SHUT_FOR_MS = 5_000;
const TRY_AGAIN_MS = 4;

export interface Gate {
  /** Has nobody else passed since? */
  isOurs(): Promise<boolean>;
}

export async function throughGate<T>(
  db: Database,
  queue: string,
  work: (gate: Gate) => Promise<T>,
): Promise<T> {
  const by = randomUUID();
  await enter(db, queue, by);
  const isOurs = async (): Promise<boolean> => {
    const filter = { _id: queue, "gate.by": by };
    return (await db.find("queues", filter, { projection: { _id: 1 } })).length === 1;
  };
  try {
    return await work({ isOurs });
  } finally {
    const leave = db
      .collection("queues")
      .updateOne({ _id: queue, "gate.by": by }, { $unset: { gate: "" } }, LIGHTLY);
    // If it fails, the gate opens by itself.
    await leave.catch(() => {});
  }
}

async function enter(db: Database, queue: string, by: string): Promise<void> {
  const lateAt = performance.now() + db.options.deadlineMs;
  while (performance.now() < lateAt) {
    const now = await db.now();
    const isFree = { $or: [{ gate: { $exists: false } }, { "gate.until": { $lte: now } }] };
    const gate = { by, until: now + SHUT_FOR_MS };
    const options = { ...LIGHTLY, projection: { _id: 1 } };
    const filter = { _id: queue, ...isFree };
    if ((await db.findOneAndUpdate("queues", filter, { $set: { gate } }, options)) !== null) return;
    await sleep(1 + Math.random() * TRY_AGAIN_MS);
  }
  const message = `too many callers lease from the capped queue ${queue}: try again`;
  throw new StoreUnavailableError(message, { mayHaveHappened: false });
}
