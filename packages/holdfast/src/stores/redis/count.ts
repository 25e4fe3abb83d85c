import { COUNTED_TO } from "../../core/line.ts";
import type { JobRef, QueueCounts } from "../../core/store.ts";
import { eachAtOnce } from "./each-at-once.ts";
import type { Looking } from "./job-view.ts";
import { list, number, rows } from "./reply.ts";

export async function count({ server, queues }: Looking): Promise<QueueCounts[]> {
  const counts: QueueCounts[] = [];
  await eachAtOnce(server.slots(await queues.all()), async (slot) => {
    const numbers = list(await server.onQueues("count", slot, [])).map(number);
    for (const [index, row] of rows(numbers, 6).entries()) {
      const [ready = 0, delayed = 0, processing = 0, succeeded = 0, dead = 0, cancelled = 0] =
        row as readonly number[];
      const queue = slot[index] ?? "";
      counts.push({ queue, ready, delayed, processing, succeeded, dead, cancelled });
    }
  });
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
  await eachAtOnce(server.slots(await queues.all()), async (slot) => {
    places.push(number(await server.onQueues("place", slot, [id])));
  });
  const found = Math.max(-1, ...places);
  return found < 0 ? null : Math.min(found, COUNTED_TO);
}
