/** The queues, and what is set for them and their lines. A queue exists from its first job on. */
import { QUEUE_REMEMBERED_MS, type Hold } from "../../core/line.ts";
import type { Database } from "./database.ts";
import type { QueueDocument } from "./schema.ts";

/** So often it is written down that a queue is used: far more often than unused ones are forgotten. */
const USED_EVERY_MS = QUEUE_REMEMBERED_MS / 6;

/** The queues of these names; those that are new are written down. */
export async function knowQueues(db: Database, names: readonly string[]): Promise<QueueDocument[]> {
  const wanted = [...new Set(names)];
  if (wanted.length === 0) return [];
  const [known, now] = await Promise.all([findQueues(db, wanted), db.now()]);
  const there = new Set(known.map(({ _id }) => _id));
  const missing = wanted.filter((name) => !there.has(name));
  const isOld = ({ usedAt = 0 }: QueueDocument): boolean => usedAt < now - USED_EVERY_MS;
  const old = known.filter(isOld).map(({ _id }) => _id);
  if (missing.length + old.length === 0) return known;
  // Beside a caller's transaction: a queue that its rollback would take away is no harm, and one that
  // others must wait for is.
  const collection = db.collection("queues");
  const operations = [...missing, ...old].map((_id) => {
    const update = { $set: { usedAt: now }, $setOnInsert: { bornAt: now } };
    return { updateOne: { filter: { _id }, update, upsert: true } };
  });
  await collection.bulkWrite(operations as never[], { ordered: false }).catch(ignoreDuplicates);
  return [...known, ...missing.map((_id) => ({ _id }))];
}

/** Two processes that add the same queue: one of them is told so. */
function ignoreDuplicates(error: unknown): void {
  if ((error as { readonly code?: unknown }).code !== 11000) throw error;
}

export async function findQueues(db: Database, names: readonly string[]): Promise<QueueDocument[]> {
  return db.find<QueueDocument>("queues", { _id: { $in: names } }, { projection: { lock: 0 } });
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

/** How long a queue that had no caps is taken for one: what is asked for is only worth a hint. */
const UNCAPPED_MS = 1_000;

/** Of the queues in which leases have ended: those where somebody may wait for the room. */
export class CapWatch {
  /** When they were seen to have no caps, by our own steady clock. */
  readonly #uncapped = new Map<string, number>();

  async cappedAmong(db: Database, names: readonly string[]): Promise<string[]> {
    const at = performance.now();
    const isOpen = (name: string): boolean =>
      at - (this.#uncapped.get(name) ?? -Infinity) < UNCAPPED_MS;
    const asked = names.filter((name) => !isOpen(name));
    if (asked.length === 0) return [];
    const found = await findQueues(db, asked);
    for (const queue of found) {
      if (hasCaps(queue)) this.#uncapped.delete(queue._id);
      else this.#uncapped.set(queue._id, at);
    }
    return found.filter(hasCaps).map(({ _id }) => _id);
  }

  /** Caps have changed. */
  forget(): void {
    this.#uncapped.clear();
  }
}
