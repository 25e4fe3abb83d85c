/**
 * What must still be carried elsewhere, beside the queue that it came from. An item's name is its
 * running number and its queue; the number grows with time, also from queue to queue.
 */
import type { NewJob } from "../../core/job.ts";
import type { LedgerEntry } from "../../core/ledger.ts";
import type { OutboxItem } from "../../core/store.ts";
import type { Looking } from "./job-view.ts";
import { eachAtOnce } from "./each-at-once.ts";
import { list, number, rows, text } from "./reply.ts";

const NUMBER_CHARS = 14;

export function jobsItem(jobs: readonly NewJob[]): string {
  return `j${JSON.stringify(jobs)}`;
}

export function entriesItem(entries: readonly LedgerEntry[]): string {
  return `e${JSON.stringify(entries)}`;
}

export async function readOutbox(
  { server, queues }: Looking,
  limit: number,
): Promise<OutboxItem[]> {
  const found: { readonly order: string; readonly queue: string; readonly item: string }[] = [];
  if (limit <= 0) return [];
  await eachAtOnce(server.slots(await queues.all()), async (slot) => {
    for (const [index, item] of rows(
      list(await server.onQueues("outbox-read", slot, [limit])),
      2,
    )) {
      const whole = text(item);
      const queue = slot[number(index) - 1] ?? "";
      found.push({ order: whole.slice(0, NUMBER_CHARS), queue, item: whole.slice(NUMBER_CHARS) });
    }
  });
  found.sort((a, b) => (a.order < b.order ? -1 : 1));
  return found.slice(0, limit).map(({ order, queue, item }): OutboxItem => {
    const id = `${order}:${queue}`;
    const content: unknown = JSON.parse(item.slice(1));
    return item.startsWith("j")
      ? { id, kind: "jobs", jobs: content as NewJob[] }
      : { id, kind: "entries", entries: content as LedgerEntry[] };
  });
}

export async function clearOutbox({ server }: Looking, ids: readonly string[]): Promise<void> {
  const items = ids.flatMap((id) => {
    const [, order, queue] = /^([0-9a-f]{14}):(.+)$/s.exec(id) ?? [];
    return order === undefined || queue === undefined ? [] : [{ order, queue }];
  });
  const names = [...new Set(items.map(({ queue }) => queue))];
  await eachAtOnce(server.slots(names), async (slot) => {
    const own = items.filter(({ queue }) => slot.includes(queue));
    const args = own.flatMap(({ order, queue }) => [slot.indexOf(queue) + 1, order]);
    await server.onQueues("outbox-clear", slot, args);
  });
}
