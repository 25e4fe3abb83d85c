/** The engine on a cluster of which one primary hangs: it takes connections, and answers nothing. */
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRedisCluster, type RedisCluster } from "../../../../../test/servers/redis-cluster.ts";
import { Holdfast } from "../../index.ts";
import { redisStore } from "./index.ts";

const SHORT_MS = 3_000;
const HANG_MS = 30_000;
const QUEUES = Array.from({ length: 12 }, (_, at) => `queue-${at}`);
const silent = { debug() {}, info() {}, warn() {}, error() {} };

let cluster: RedisCluster;
beforeAll(async () => void (cluster = await startRedisCluster()));
afterAll(() => cluster.stop());

describe("while one primary of a cluster hangs", () => {
  it("handlers of the other queues keep their leases, and their jobs are enqueued, run and settled", async () => {
    const store = redisStore({ url: cluster.url, deadlineMs: SHORT_MS });
    const hf = new Holdfast({ store, logger: silent });
    const aborted = new Set<string>();
    const running = new Set<string>();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    hf.handle("long", async ({ queue, signal }) => {
      running.add(queue);
      signal.addEventListener("abort", () => aborted.add(queue));
      await ended;
    });
    hf.handle("note", () => {});
    await hf.work({ queues: QUEUES, concurrency: 50, leaseMs: 2 * SHORT_MS });
    await Promise.all(QUEUES.map((queue) => hf.enqueue("long", null, { queue })));
    await expect.poll(() => running.size, { timeout: 10_000 }).toBe(QUEUES.length);
    const primary = new Redis(cluster.nodes[1]!.url);
    const hung = new Set<string>();
    for (const queue of QUEUES) {
      const slot = await primary.cluster("KEYSLOT", `{hf:${queue}}:m`);
      if ((await primary.cluster("COUNTKEYSINSLOT", slot)) > 0) hung.add(queue);
    }
    expect(hung.size).toBeGreaterThan(0);
    await primary.client("PAUSE", HANG_MS, "ALL");
    // Long enough for its leases to end.
    await expect.poll(() => aborted, { timeout: 20_000 }).toEqual(hung);
    const healthy = QUEUES.filter((queue) => !hung.has(queue));
    expect(healthy).not.toEqual([]);
    const receipts = healthy.map((queue) => hf.enqueue("note", null, { queue }));
    const finished = receipts.map(async (receipt) =>
      hf.waitFor(await receipt, { timeoutMs: 20_000 }),
    );
    expect((await Promise.all(finished)).map(({ status }) => status)).toEqual(
      healthy.map(() => "succeeded"),
    );
    expect(healthy.filter((queue) => aborted.has(queue))).toEqual([]);
    end();
    primary.disconnect();
    await hf.close({ graceMs: 0 });
  }, 90_000);
});
