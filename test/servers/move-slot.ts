/** Moving a slot of a Redis cluster to another node, as `redis-cli --cluster reshard` does it. */
import { Redis } from "ioredis";
import type { OwnRedis } from "./redis.ts";

/** In one step of the move: what a busy node gets done between two other commands. */
const KEYS_AT_A_TIME = 3;

export interface SlotMove {
  /** Of a key in it. */
  readonly slotOf: string;
  readonly to: OwnRedis;
  readonly nodes: readonly OwnRedis[];
  /** When the slot is open on both sides and before each step of its keys. */
  readonly onStep?: () => Promise<void>;
}

/** Nothing happens if the slot is there already. */
export async function moveSlot({ slotOf, to, nodes, onStep }: SlotMove): Promise<void> {
  const clients = nodes.map(({ port }) => ({ port, client: new Redis(port) }));
  try {
    const [any] = clients;
    const target = clients.find(({ port }) => port === to.port);
    if (any === undefined || target === undefined) throw new Error("the target is not a node");
    const slot = await any.client.cluster("KEYSLOT", slotOf);
    const owner = await ownerOf(any.client, slot);
    const source = clients.find(({ port }) => port === owner);
    if (source === undefined || source === target) return;
    const targetId = await target.client.cluster("MYID");
    await target.client.cluster("SETSLOT", slot, "IMPORTING", await source.client.cluster("MYID"));
    await source.client.cluster("SETSLOT", slot, "MIGRATING", targetId);
    for (;;) {
      await onStep?.();
      const keys = await source.client.cluster("GETKEYSINSLOT", slot, KEYS_AT_A_TIME);
      if (keys.length === 0) break;
      await source.client.call("MIGRATE", "127.0.0.1", to.port, "", 0, 5_000, "KEYS", ...keys);
    }
    await target.client.cluster("SETSLOT", slot, "NODE", targetId);
    for (const { client } of clients) await client.cluster("SETSLOT", slot, "NODE", targetId);
  } finally {
    for (const { client } of clients) client.disconnect();
  }
}

async function ownerOf(client: Redis, slot: number): Promise<number> {
  const ranges = await client.cluster("SLOTS");
  const range = ranges.find(([from, last]) => from <= slot && slot <= last);
  return range?.[2]?.[1] ?? 0;
}
