/**
 * What an insert must know of its queues: that they are written down, and how many jobs may wait there.
 * Both hardly ever change, so each process remembers them, until the numbers of its jobs come with the
 * word that some bound was changed. Its memory is short: whoever changed a bound and died before he said
 * so must not be overheard for ever.
 */
import type { Database } from "./database.ts";
import { knowQueues } from "./queue-book.ts";
import type { QueueDocument } from "./schema.ts";

const REMEMBERED_MS = 1_000;

export class KnownQueues {
  readonly #queues = new Map<string, QueueDocument>();
  #bounds = "";
  #since = -Infinity;

  /** `bounds` and `now` as they came with the numbers, so nothing that was said before them is missed. */
  async of(
    db: Database,
    names: ReadonlySet<string>,
    { bounds, now }: { readonly bounds: string; readonly now: number },
  ): Promise<QueueDocument[]> {
    // A caller's transaction sees what was so when it began.
    if (db.isInTransaction) return knowQueues(db, [...names]);
    if (bounds !== this.#bounds || now - this.#since > REMEMBERED_MS) {
      this.#queues.clear();
      this.#bounds = bounds;
      this.#since = now;
    }
    const missing = [...names].filter((name) => !this.#queues.has(name));
    const found = await knowQueues(db, missing);
    if (bounds === this.#bounds) for (const queue of found) this.#queues.set(queue._id, queue);
    const byName = new Map(found.map((queue) => [queue._id, queue]));
    return [...names].flatMap((name) => byName.get(name) ?? this.#queues.get(name) ?? []);
  }
}
