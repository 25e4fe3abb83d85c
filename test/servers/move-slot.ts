/** Moving a slot of a Redis cluster to another node, as `redis-cli --cluster reshard` does it. */
import { setTimeout } from "node:timers/promises";
import { Redis } from "ioredis";
import type { OwnRedis } from "./redis.ts";

/** In one step of the move: what a busy node gets done between two other commands. */
const KEYS_AT_A_TIME = 3;
/** Until the nodes have told each other of a move; with their pauses ten seconds. */
const MOST_TRIES = 200;

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
    const target = clients.find(({ port }) => port === to.port);
    if (target === undefined) throw new Error("the target is not a node");
    const slot = await target.client.cluster("KEYSLOT", slotOf);
    await sameEpoch(clients);
    const source = await ownerAmong(clients, slot);
    if (source === target) return;
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

interface Node {
  readonly port: number;
  readonly client: Redis;
}

/**
 * A node that takes a slot over does so with a higher epoch than any that it has heard of. If it has not heard of
 * the last move yet, what the old owner said before counts for more than what it says now: it believes that it has
 * lost the slot, and deletes the keys that have just arrived.
 */
async function sameEpoch(nodes: readonly Node[]): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const infos = await Promise.all(nodes.map(({ client }) => client.cluster("INFO")));
    const epochs = infos.map((info) => /cluster_current_epoch:(\d+)/.exec(info)?.[1]);
    if (new Set(epochs).size === 1) return;
    await setTimeout(50);
  }
  throw new Error("the nodes do not agree how often slots have moved");
}

/** Whoever says so of himself: what the others have heard may be from before the last move. */
async function ownerAmong(nodes: readonly Node[], slot: number): Promise<Node> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const owners: Node[] = [];
    for (const node of nodes) {
      const ranges = await node.client.cluster("SLOTS");
      const range = ranges.find(([from, last]) => from <= slot && slot <= last);
      if (range?.[2]?.[1] === node.port) owners.push(node);
    }
    const [owner] = owners;
    if (owner !== undefined && owners.length === 1) return owner;
    await setTimeout(50);
  }
  throw new Error(`the nodes do not agree who has slot ${slot}`);
}
