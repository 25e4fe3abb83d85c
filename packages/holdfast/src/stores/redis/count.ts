import { COUNTED_TO } from "../../core/line.ts";
import type { JobRef, QueueCounts } from "../../core/store.ts";
import { eachAtOnce } from "./each-at-once.ts";
import type { Looking } from "./job-view.ts";
import { list, number, numberOrNull, rows } from "./reply.ts";

/** Jobs that are asked since when they wait, in all. */
const ASKED = 1_000;
const MOST_ASKED_OF_A_LINE = 100;

/**
 * `oldestReadyAt` is of the first jobs of the first lines: of few queues a hundred jobs of a hundred lines each,
 * of thousands of queues the first job of one line. A job of low priority far back in a long line is not asked.
 */
export async function count({ server, queues }: Looking): Promise<QueueCounts[]> {
  const counts: QueueCounts[] = [];
  const names = await queues.all();
  const depth = Math.min(MOST_ASKED_OF_A_LINE, Math.ceil(ASKED / Math.max(1, names.length)));
  for (const some of server.inTurns(names)) {
    await eachAtOnce(some, async (slot) => {
      const replies = list(await server.onQueues("count", slot, [depth]));
      for (const [index, row] of rows(replies, 8).entries()) {
        const [ready = 0, delayed = 0, processing = 0, succeeded = 0, dead = 0, cancelled = 0] = row
          .slice(0, 6)
          .map(number);
        const retrying = Math.min(number(row[6]), COUNTED_TO);
        const queue = slot[index] ?? "";
        counts.push({
          ...{ queue, ready, delayed, processing, succeeded, dead, cancelled, retrying },
          oldestReadyAt: numberOrNull(row[7]),
        });
      }
    });
  }
  return counts.sort((a, b) => (a.queue < b.queue ? -1 : 1));
}

export async function place(
  { server, queues }: Looking,
  { id, queue }: JobRef,
): Promise<number | null> {
  if (queue !== undefined) {
    const hinted = number(await server.onQueues("place", [queue], [id]));
    if (hinted >= 0) return Math.min(hinted, COUNTED_TO);
  }
  const places: number[] = [];
  for (const some of server.inTurns(await queues.all())) {
    await eachAtOnce(some, async (slot) => {
      places.push(number(await server.onQueues("place", slot, [id])));
    });
  }
  const found = Math.max(-1, ...places);
  return found < 0 ? null : Math.min(found, COUNTED_TO);
}
