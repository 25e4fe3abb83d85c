import type { HoldChange, LimitChange } from "../../core/line.ts";
import { flag, optional, orEmpty } from "./args.ts";
import { bySlot } from "./by-slot.ts";
import type { Arg, Reply } from "./client-like.ts";
import type { InsertHow } from "./insert.ts";
import { list } from "./reply.ts";
import { named } from "./touched.ts";

/** Releasing makes no queue and no line. */
export async function hold(how: InsertHow, changes: readonly HoldChange[]): Promise<void> {
  const held = changes.filter((change) => change.hold !== null);
  await how.queues.list(held.map(({ queue }) => queue));
  await bySlot(how.server, changes, {
    script: "hold",
    head: [],
    args: ({ group, owner, hold: wanted }, queue) => [
      ...[queue, ...optional(group), owner, flag(wanted !== null)],
      ...[orEmpty(wanted?.forMs), wanted?.reason ?? "", ...optional(wanted?.by)],
    ],
    answer: (reply, _items, slot) => learn(how, reply, slot),
  });
}

export async function limit(how: InsertHow, changes: readonly LimitChange[]): Promise<void> {
  await how.queues.list(changes.map(({ queue }) => queue));
  await bySlot(how.server, changes, {
    script: "limit",
    head: [],
    args(change, queue) {
      const patches = patchesOf(change);
      return [queue, ...optional(change.group), patches.length / 2, ...patches];
    },
    answer: (reply, _items, slot) => learn(how, reply, slot),
  });
}

/** Names and numbers; null clears. */
function patchesOf(change: LimitChange): Arg[] {
  const { maxActive, maxActivePerGroup: maxPerGroup, maxWaiting, weight } = change;
  const patches =
    change.group === null ? { maxActive, maxPerGroup, maxWaiting } : { maxActive, weight };
  return Object.entries(patches).flatMap(([name, value]) =>
    value === undefined ? [] : [name, orEmpty(value)],
  );
}

async function learn(how: InsertHow, reply: Reply, slot: readonly string[]): Promise<void> {
  const [made, woken] = list(reply);
  how.touched.wake(woken, slot);
  await how.queues.made(named(made, slot));
}
