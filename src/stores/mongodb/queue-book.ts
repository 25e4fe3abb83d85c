/** The queues, and what is set for them and their lines. A queue exists from its first job on. */
import type { Hold } from "../../core/line.ts";
import type { Database } from "./database.ts";
import type { QueueDocument } from "./schema.ts";

/** The queues of these names; those that are new are written down. */
export async function knowQueues(db: Database, names: readonly string[]): Promise<QueueDocument[]> {
  const wanted = [...new Set(names)];
  if (wanted.length === 0) return [];
  const known = await findQueues(db, wanted);
  const missing = wanted.filter((name) => !known.some(({ _id }) => _id === name));
  if (missing.length === 0) return known;
  // Beside a caller's transaction: a queue that its rollback would take away is no harm, and one that
  // others must wait for is.
  const collection = db.collection("queues");
  const operations = missing.map((_id) => ({
    updateOne: { filter: { _id }, update: { $setOnInsert: { _id } }, upsert: true },
  }));
  await collection.bulkWrite(operations as never[], { ordered: false }).catch(ignoreDuplicates);
  return [...known, ...missing.map((_id) => ({ _id }))];
}

/** Two processes that add the same queue: one of them is told so. */
function ignoreDuplicates(error: unknown): void {
  if ((error as { readonly code?: unknown }).code !== 11000) throw error;
}

export async function findQueues(db: Database, names: readonly string[]): Promise<QueueDocument[]> {
  return db.find<QueueDocument>("queues", { _id: { $in: names } }, { projection: { gate: 0 } });
}

export function hasCaps({ maxActive, maxActivePerGroup, hasLineCaps }: QueueDocument): boolean {
  return maxActive !== undefined || maxActivePerGroup !== undefined || hasLineCaps === true;
}

/** The holds that are in force. Those that ended stay until somebody changes the line. */
export function holdsInForce(holds: readonly Hold[] | undefined, now: number): Hold[] {
  return (holds ?? []).filter(({ until }) => until === null || until > now);
}

/** When the last hold ends: null if there is none, Infinity if one has no end. */
export function heldUntil(holds: readonly Hold[] | undefined, now: number): number | null {
  const ends = holdsInForce(holds, now).map(({ until }) => until ?? Infinity);
  return ends.length === 0 ? null : Math.max(...ends);
}
