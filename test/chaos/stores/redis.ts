/**
 * One Redis server of its own, or a cluster of three nodes of which one at a time is struck. They
 * write to the disk before they answer: kill -9 must lose nothing that was acknowledged.
 */
import { setTimeout as pause } from "node:timers/promises";
import { Cluster, Redis } from "ioredis";
import { redisStore } from "../../../packages/holdfast/src/stores/redis/index.ts";
import { startRedisCluster } from "../../servers/redis-cluster.ts";
import { startOwnRedis, type OwnRedis } from "../../servers/redis.ts";
import type { ChaosStore, StartedStore } from "../chaos-store.ts";
import { monotonicMs } from "../witness.ts";
import { SlotMover } from "./slot-mover.ts";

const WRITE_PATIENCE_MS = 150;
const HEAL_DEADLINE_MS = 60_000;
const HASH_TAGS = "0 1 2 3 4 5 6 7 8 9 a b c d e f".split(" ");
/** Before the id of a job in its place: what it is sorted by. */
const PLACE_PREFIX = 14;
const open = (url: string) => redisStore({ url });

export const redis: ChaosStore = {
  async start() {
    const own = await startOwnRedis({ settings: ["--appendfsync", "always"] });
    return startOn([own], { url: own.url, stop: () => own.stop() });
  },
  open,
};

export const redisCluster: ChaosStore = {
  async start() {
    const cluster = await startRedisCluster();
    const spare = await cluster.startSpare();
    for (const node of [...cluster.nodes, spare]) await durable(node);
    return startOn([...cluster.nodes], { ...cluster, spare });
  },
  open,
};

interface Servers {
  readonly url: string;
  stop(): Promise<void>;
  /** A node that is added in the middle. */
  readonly spare?: OwnRedis;
  addNode?(spare: OwnRedis): Promise<OwnRedis>;
}

function startOn(nodes: readonly OwnRedis[], { url, stop, addNode, spare }: Servers): StartedStore {
  const isCluster = nodes.length > 1;
  const watch = new WriteWatch(url, isCluster);
  let struck = 0;
  // Also to the node that is added later: what goes there directly would hear it while the network is silent.
  const all = spare ? [...nodes, spare] : nodes;
  const mover =
    addNode &&
    spare &&
    new SlotMover({
      nodes,
      keys: () => allKeys(watch.client),
      addNode: () => addNode(spare),
    });
  return {
    url,
    nodes: all.map((node) => new URL(node.url).host),
    server: {
      ...(mover && { moveSlots: () => mover.move() }),
      isWhole: !isCluster,
      halt: (how) => nodes[struck % nodes.length]!.halt(how),
      async resume() {
        const node = nodes[struck % nodes.length]!;
        struck += 1;
        await node.resume();
        await durable(node);
        const until = monotonicMs() + HEAL_DEADLINE_MS;
        while (!(await watch.canWrite())) {
          if (monotonicMs() > until) throw new Error("Redis came back, and takes no writes");
          await pause(20);
        }
      },
    },
    canWrite: () => watch.canWrite(),
    integrity: () => standing(watch.client),
    async stop() {
      watch.client.disconnect();
      await stop();
    },
  };
}

/** A node of a cluster is started without this. */
export async function durable({ url }: OwnRedis): Promise<void> {
  const client = new Redis(url);
  await client.config("SET", "appendfsync", "always");
  client.disconnect();
}

/** Writes beside the store: on every node, whichever has the slots. */
export class WriteWatch {
  readonly client: Redis | Cluster;
  readonly #keys: readonly string[];

  constructor(url: string, isCluster: boolean) {
    const options = {
      ...{ enableOfflineQueue: false, maxRetriesPerRequest: null },
      // Behind an address that follows the primary, a new connection finds it.
      reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
    };
    const retry = { retryStrategy: () => 50 };
    this.client = isCluster
      ? new Cluster([url], { redisOptions: options, clusterRetryStrategy: () => 50 })
      : new Redis(url, { ...options, ...retry });
    this.client.on("error", () => {});
    this.#keys = (isCluster ? HASH_TAGS : HASH_TAGS.slice(0, 1)).map(
      (tag) => `chaos-watch:{${tag}}`,
    );
  }

  async canWrite(): Promise<boolean> {
    const writing = Promise.all(this.#keys.map((key) => this.client.set(key, "written")));
    const isWritten = writing.then(
      () => true,
      () => false,
    );
    return Promise.race([isWritten, pause(WRITE_PATIENCE_MS, false)]);
  }
}

/** Every job stands in exactly one place, and has a header and a body. */
export async function standing(client: Redis | Cluster): Promise<string[]> {
  const found: string[] = [];
  const keys = await allKeys(client);
  for (const base of keys.filter((key) => key.endsWith("}:i")).map((key) => key.slice(0, -1))) {
    const listed = await client.zrange(`${base}i`, "0", "-1");
    const isListed = new Set(listed);
    const lines = keys.filter((key) => key.startsWith(`${base}r:`));
    const places = [...lines, ...["d", "a", "f:s", "f:d", "f:c"].map((name) => base + name)];
    const counts = new Map<string, number>();
    for (const place of places) {
      for (const member of await client.zrange(place, "0", "-1")) {
        const id = member.slice(PLACE_PREFIX);
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
    }
    for (const id of new Set([...listed, ...counts.keys()])) {
      const count = counts.get(id) ?? 0;
      if (count !== 1) found.push(`${base} ${id} stands in ${count} places`);
      if (!isListed.has(id)) found.push(`${base} ${id} stands somewhere, and is not listed`);
    }
    for (const name of ["h", "b"]) {
      const has = new Set(await client.hkeys(base + name));
      const without = listed.filter((id) => !has.has(id));
      for (const id of without) found.push(`${base}: ${id} has nothing in ${name}`);
    }
  }
  return found;
}

async function allKeys(client: Redis | Cluster): Promise<string[]> {
  const found = new Set<string>();
  for (const node of client instanceof Cluster ? client.nodes("master") : [client]) {
    let cursor = "0";
    do {
      const [next, keys] = await node.scan(cursor, "MATCH", "{hf*", "COUNT", 1_000);
      for (const key of keys) found.add(key);
      cursor = next;
    } while (cursor !== "0");
  }
  return [...found];
}
