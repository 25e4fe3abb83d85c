/** What reaping costs on a cluster, where no server knows of all leases. */
import { Cluster } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRedisCluster, type RedisCluster } from "../../../../../test/servers/redis-cluster.ts";
import { insertAll, newJob } from "../../testing/conformance/new-job.ts";
import { takeExactly } from "../../testing/conformance/take.ts";
import { redisStore } from "./index.ts";
import type { Arg } from "./client-like.ts";

const QUEUES = 250;
const names = Array.from({ length: QUEUES }, (_, index) => `queue-${index}`);

let cluster: RedisCluster;
let client: Cluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
  client = new Cluster([cluster.url]);
});
afterAll(async () => {
  client.disconnect();
  await cluster.stop();
});

/** The client, and how many of its calls were on their way at once. */
function watched(): { readonly client: Cluster; most: number } {
  let open = 0;
  const callBuffer = async (command: string, ...args: Arg[]): Promise<unknown> => {
    watching.most = Math.max(watching.most, ++open);
    return client.callBuffer(command, ...args).finally(() => (open -= 1));
  };
  const seen = new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name === "callBuffer") return callBuffer;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const watching = { client: seen, most: 0 };
  return watching;
}

describe("reaping on a cluster", () => {
  it("asks queues many at once, and then takes back the jobs of those that have some", async () => {
    let now = Date.UTC(2031, 0, 1);
    const watching = watched();
    const store = redisStore({ client: watching.client, now: () => now });
    await store.open();
    try {
      await insertAll(
        store,
        names.map((queue) => newJob({ queue })),
      );
      const leased: string[] = [];
      for (const queue of ["queue-7", "queue-77", "queue-177"]) {
        const [job] = await takeExactly(store, 1, { queue, leaseMs: 1_000 });
        leased.push(job?.id ?? "");
      }
      watching.most = 0;
      expect(await store.reap({ limit: 200 })).toEqual([]);
      expect(watching.most).toBeGreaterThanOrEqual(50);
      now += 1_000;
      const [first, ...rest] = [
        ...(await store.reap({ limit: 1 })),
        ...(await store.reap({ limit: 200 })),
      ];
      expect(new Set([first, ...rest].map((job) => job?.id))).toEqual(new Set(leased));
      expect(await store.reap({ limit: 200 })).toEqual([]);
    } finally {
      await store.close();
    }
  });
});
