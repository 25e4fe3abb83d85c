/**
 * A primary and a replica behind one address that follows the primary, as a managed Redis has it: a planned
 * failover loses nothing, and connections that are there stay on the old primary, which is read-only then.
 */
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { redisStore } from "../../../packages/holdfast/src/stores/redis/index.ts";
import { FaultProxy } from "../../servers/fault-proxy.ts";
import { startOwnRedis, type OwnRedis } from "../../servers/redis.ts";
import type { ChaosStore, StartedStore } from "../chaos-store.ts";
import { monotonicMs } from "../witness.ts";
import { standing, WriteWatch } from "./redis.ts";

const DURABLE = ["--appendfsync", "always", "--repl-diskless-sync-delay", "0"];
const PATIENCE_MS = 60_000;

export const redisFailover: ChaosStore = {
  async start() {
    const primary = await startOwnRedis({ settings: DURABLE });
    const replicaOf = ["--replicaof", "127.0.0.1", String(primary.port)];
    const replica = await startOwnRedis({ settings: [...DURABLE, ...replicaOf] });
    await until(primary, (info) => info.includes("state=online"));
    return startOn(primary, replica);
  },
  open: (url) => redisStore({ url }),
};

async function startOn(first: OwnRedis, second: OwnRedis): Promise<StartedStore> {
  let [primary, replica] = [first, second];
  const address = new FaultProxy(primary.url);
  const url = await address.open();
  const watch = new WriteWatch(url, false);
  return {
    url,
    nodes: [new URL(url).host],
    server: {
      isWhole: false,
      ready: () => until(primary, (info) => info.includes("state=online")),
      async halt() {
        throw new Error("here a server is never ended: it would come back as what it was at first");
      },
      resume: async () => {},
      async failOver() {
        const admin = new Redis(primary.url);
        await admin.call("FAILOVER", "TO", "127.0.0.1", String(replica.port));
        admin.disconnect();
        await until(primary, (info) => info.includes("role:slave"));
        [primary, replica] = [replica, primary];
        await until(primary, (info) => info.includes("role:master"));
        address.follow(primary.url);
      },
    },
    canWrite: () => watch.canWrite(),
    integrity: () => standing(watch.client),
    async stop() {
      watch.client.disconnect();
      await address.close();
      await first.stop();
      await second.stop();
    },
  };
}

/** Until the server says so of its replication. */
async function until({ url }: OwnRedis, isSo: (info: string) => boolean): Promise<void> {
  const admin = new Redis(url);
  const deadline = monotonicMs() + PATIENCE_MS;
  try {
    while (!isSo(await admin.info("replication"))) {
      if (monotonicMs() > deadline) throw new Error("the replicas do not find to each other");
      await pause(20);
    }
  } finally {
    admin.disconnect();
  }
}
