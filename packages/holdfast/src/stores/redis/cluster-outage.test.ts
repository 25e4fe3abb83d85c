/** The engine on a cluster whose nodes go away and come back, one after another. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRedisCluster, type RedisCluster } from "../../../../../test/servers/redis-cluster.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import { Holdfast, type Receipt } from "../../index.ts";
import { redisStore } from "./index.ts";

const AFTER_HEAL_MS = 10_000;
const QUEUES = ["mail", "sms", "fax", "post"];

let cluster: RedisCluster;
beforeAll(async () => void (cluster = await startRedisCluster()));
afterAll(() => cluster.stop());

describe("on a cluster a worker takes jobs again", () => {
  it("after each of its nodes was killed and started again", async () => {
    const silent = { debug() {}, info() {}, warn() {}, error() {} };
    const ran: string[] = [];
    const hf = new Holdfast({ store: redisStore({ url: cluster.url }), logger: silent });
    hf.define({
      type: "note",
      async run(job) {
        ran.push(String(job.payload));
      },
    });
    const worker = await hf.work({ queues: QUEUES, concurrency: 5 });

    /** As a patient caller does. */
    async function enqueueAtLast(payload: string, queue: string): Promise<Receipt> {
      for (;;) {
        try {
          return await hf.enqueue("note", payload, { queue });
        } catch (error) {
          if (!(error instanceof StoreUnavailableError)) throw error;
        }
      }
    }

    async function everyQueueWorks(when: string): Promise<void> {
      for (const queue of QUEUES) {
        const receipt = await enqueueAtLast(`${when} ${queue}`, queue);
        const ended = await hf.waitFor(receipt, { timeoutMs: AFTER_HEAL_MS });
        expect(ended).toMatchObject({ status: "succeeded" });
      }
    }

    await everyQueueWorks("before");
    for (const [index, node] of cluster.nodes.entries()) {
      await node.halt("kill");
      await node.resume();
      await everyQueueWorks(`after ${index}`);
    }
    expect(new Set(ran).size).toBe(QUEUES.length * (cluster.nodes.length + 1));
    await worker.stop({ graceMs: 0 });
    await hf.close();
  }, 120_000);
});
