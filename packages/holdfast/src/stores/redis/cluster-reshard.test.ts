/** A cluster that moves slots between its nodes, while jobs are enqueued and run. */
import { Cluster } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inTier } from "../../../../../test/runner/tier.ts";
import { moveSlot } from "../../../../../test/servers/move-slot.ts";
import { startRedisCluster, type RedisCluster } from "../../../../../test/servers/redis-cluster.ts";
import type { OwnRedis } from "../../../../../test/servers/redis.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { Holdfast, type Receipt } from "../../index.ts";
import { newJob } from "../../testing/conformance/new-job.ts";
import { redisStore } from "./index.ts";

const MOVES = inTier({ daily: 6, full: 40 });
const silent = { debug() {}, info() {}, warn() {}, error() {} };

let cluster: RedisCluster;
beforeAll(async () => void (cluster = await startRedisCluster()));
afterAll(() => cluster.stop());

async function move(slotOf: string, to: OwnRedis, onStep?: () => Promise<void>): Promise<void> {
  const { nodes } = cluster;
  await moveSlot({ slotOf, to, nodes, ...(onStep !== undefined && { onStep }) });
}

async function opened(prefix: string): Promise<Store> {
  const store = redisStore({ url: cluster.url, prefix });
  await store.open();
  return store;
}

/** Each node once, so that whichever has the slot now gives it away. */
async function moveRound(slotOf: string, onStep?: () => Promise<void>): Promise<void> {
  for (const node of cluster.nodes.slice(0, 3)) await move(slotOf, node, onStep);
}

describe("while the slot of a queue moves", () => {
  it("a node that breaks off while it is asked ends no process", async () => {
    const client = new Cluster([cluster.url]);
    const store = redisStore({ client, prefix: "asked" });
    await store.open();
    const unheard: unknown[] = [];
    const hear = (reason: unknown): void => void unheard.push(reason);
    process.on("unhandledRejection", hear);
    try {
      for (const node of client.nodes("master")) {
        await node.ping();
        // As the driver does it.
        void node.asking();
        node.stream.destroy();
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(unheard).toEqual([]);
    } finally {
      process.off("unhandledRejection", hear);
      await store.close();
      client.disconnect();
    }
  });

  it("nothing is acknowledged that would be lost when it arrives", async () => {
    const store = await opened("moving");
    const queues = ["mail", "never-used"];
    for (let job = 0; job < 20; job++) await store.insert([newJob({ queue: "mail" })]);
    const acknowledged: { id: string; queue: string }[] = [];
    const refusals: unknown[] = [];
    for (const queue of queues) {
      let tries = 0;
      await moveRound(`{moving:${queue}}:m`, async () => {
        if ((tries += 1) > 3) return;
        const job = newJob({ queue });
        await store.insert([job]).then(
          () => acknowledged.push({ id: job.id, queue }),
          (error: unknown) => refusals.push(error),
        );
      });
      const late = newJob({ queue });
      await store.insert([late]);
      acknowledged.push({ id: late.id, queue });
    }
    expect(refusals.length).toBeGreaterThan(0);
    for (const error of refusals) expect(error).toBeInstanceOf(StoreUnavailableError);
    const found = await store.get(acknowledged);
    expect(found.filter((job) => job === null || job === "pruned")).toEqual([]);
    const counted = new Map((await store.count()).map(({ queue, ready }) => [queue, ready]));
    const known = acknowledged.filter(({ queue }) => queue === "mail").length;
    expect(counted.get("mail")).toBeGreaterThanOrEqual(20 + known);
    await store.close();
  }, 60_000);

  it("a reaping of none says that it is out of reach, where the clock answers", async () => {
    const store = await opened("reach");
    try {
      for (let job = 0; job < 20; job++) await store.insert([newJob({ queue: "mail" })]);
      const answers: string[] = [];
      await moveRound("{reach:mail}:m", async () => {
        if (answers.length >= 6) return;
        await store.now();
        const answer = store.reap({ limit: 0 }).then(
          (reaped) => `reaped ${reaped.length}`,
          (error: unknown) => (error instanceof StoreUnavailableError ? "away" : String(error)),
        );
        answers.push(await answer);
      });
      expect(new Set(answers)).toContain("away");
      expect(answers.filter((answer) => !/^(away|reaped 0)$/.test(answer))).toEqual([]);
      expect(await store.reap({ limit: 0 })).toEqual([]);
    } finally {
      await store.close();
    }
  }, 60_000);

  it("records and the ledger lose nothing either", async () => {
    const store = await opened("home");
    const key = "settings/mail";
    const first = await store.records.swap([{ key, expect: null, value: "1", ttlMs: null }]);
    let version = first[0]?.swapped === true ? first[0].version : null;
    let value = 1;
    let tries = 0;
    await moveRound("{home}:m", async () => {
      if ((tries += 1) > 3) return;
      const next = { key, expect: version, value: String(value + 1), ttlMs: null };
      const [swapped] = await store.records.swap([next]).catch(() => []);
      if (swapped?.swapped !== true) return;
      version = swapped.version;
      value += 1;
    });
    const [record] = await store.records.read([key]);
    expect(record).toMatchObject({ value: String(value), version });
    await store.close();
  }, 60_000);
});

describe("a worker on a cluster", () => {
  it("goes on while slots move to and fro, and to a node that is added; every job runs", async () => {
    const queues = ["mail", "sms"];
    const ran = new Set<string>();
    const hf = new Holdfast({
      store: redisStore({ url: cluster.url, prefix: "load" }),
      logger: silent,
    });
    hf.define({
      type: "note",
      async run(job) {
        ran.add(String(job.payload));
      },
    });
    const worker = await hf.work({ queues, concurrency: 5 });
    const receipts: Receipt[] = [];
    const isOver = { now: false };

    /** As a patient caller does. */
    async function produce(queue: string): Promise<void> {
      for (let number = 0; !isOver.now; number++) {
        try {
          receipts.push(await hf.enqueue("note", `${queue} ${number}`, { queue }));
        } catch (error) {
          if (!(error instanceof StoreUnavailableError)) throw error;
        }
      }
    }

    const producing = Promise.all(queues.map(produce));
    const added = await cluster.addNode();
    for (let turn = 0; turn < MOVES; turn++) {
      const to = turn % 2 === 0 ? added : cluster.nodes[turn % 3];
      for (const slotOf of ["{load:mail}:m", "{load}:m", "{load:sms}:m"]) {
        if (to !== undefined) await move(slotOf, to);
      }
    }
    isOver.now = true;
    await producing;
    for (const receipt of receipts) {
      const ended = await hf.waitFor(receipt, { timeoutMs: 60_000 });
      expect(ended).toMatchObject({ status: "succeeded" });
    }
    expect(receipts.length).toBeGreaterThan(queues.length);
    expect(ran.size).toBeGreaterThanOrEqual(receipts.length);
    await worker.stop({ graceMs: 0 });
    await hf.close();
  }, 180_000);
});
