/** Items of several queues, put to the script of each slot, answered in their order. */
import type { Arg, Reply } from "./client-like.ts";
import { eachAtOnce } from "./each-at-once.ts";
import type { ScriptName } from "./script.ts";
import type { Server } from "./server.ts";

const MOST = 200;

export interface Slotted<Item> {
  readonly script: ScriptName;
  readonly head: readonly Arg[];
  /** The arguments of one item; `queue` is its number among the keys. */
  args(item: Item, queue: number): Arg[];
  /** What came of these items. */
  answer(reply: Reply, items: readonly Item[], slot: readonly string[]): Promise<void> | void;
}

export async function bySlot<Item extends { readonly queue: string }>(
  server: Server,
  items: readonly Item[],
  { script, head, args, answer }: Slotted<Item>,
): Promise<void> {
  const names = [...new Set(items.map(({ queue }) => queue))];
  await eachAtOnce(server.slots(names), async (slot) => {
    const own = items.filter(({ queue }) => slot.includes(queue));
    for (let from = 0; from < own.length; from += MOST) {
      const batch = own.slice(from, from + MOST);
      const all = batch.flatMap((item) => args(item, slot.indexOf(item.queue) + 1));
      await answer(await server.onQueues(script, slot, [...head, ...all]), batch, slot);
    }
  });
}
