/** What upkeep costs where there are thousands of queues. */
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { commandsFor } from "../../../../../test/servers/redis-commands.ts";
import { startOwnRedis, type OwnRedis } from "../../../../../test/servers/redis.ts";
import type { Store } from "../../core/store.ts";
import { insertAll, insertOne, newJob } from "../../testing/conformance/new-job.ts";
import { settlement, succeed } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly } from "../../testing/conformance/take.ts";
import { redisStore } from "./index.ts";

const QUEUES = 1_200;
const names = Array.from({ length: QUEUES }, (_, index) => `queue-${index}`);

let server: OwnRedis;
let admin: Redis;
let store: Store;
let now = Date.UTC(2031, 0, 1);
beforeAll(async () => {
  server = await startOwnRedis();
  admin = new Redis(server.url);
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});
beforeEach(async () => {
  await admin.flushall();
  store = redisStore({ url: server.url, now: () => now });
  await store.open();
  await insertAll(
    store,
    names.map((queue) => newJob({ queue })),
  );
});
afterEach(() => store.close());

async function finishAll(): Promise<void> {
  for (let from = 0; from < QUEUES; from += 200) {
    const queues = names.slice(from, from + 200);
    const { jobs } = await store.lease(leaseRequest(200, { queues }));
    await store.settle(jobs.map((job) => settlement(job, succeed())));
  }
}

const hour = { queue: null, status: "succeeded", olderThanMs: 3_600_000, keep: null } as const;

describe("with more than a thousand queues", () => {
  it("a prune that finds nothing asks each a few questions, in scripts that are bounded", async () => {
    await finishAll();
    const commands = await commandsFor(admin, () => store.prune([hour], 500));
    expect(commands).toBeLessThan(6 * QUEUES);
    const stats = await admin.info("commandstats");
    const [, calls] = /^cmdstat_evalsha:calls=(\d+)/m.exec(stats) ?? [];
    expect(Number(calls)).toBeGreaterThanOrEqual(QUEUES / 500);
  });

  it("a prune deletes the oldest jobs first, whatever queues they are in", async () => {
    for (const queue of names.slice(0, 150)) {
      const [job] = await takeExactly(store, 1, { queue });
      if (job !== undefined) await store.settle([settlement(job, succeed())]);
      now += 1;
    }
    now += 3_600_000;
    expect(await store.prune([hour], 40)).toBe(40);
    const kept = await store.find({ status: ["succeeded"] }, { limit: 500, order: "oldest" });
    const left = new Set(kept.jobs.map(({ queue }) => queue));
    expect(names.slice(0, 150).filter((queue) => !left.has(queue))).toEqual(names.slice(0, 40));
    expect(await store.prune([hour], 500)).toBe(110);
  });

  it("reaping asks only the queues where a lease may have run out", async () => {
    await store.reap({ limit: 10 });
    const [leased] = await takeExactly(store, 1, { queue: "queue-7", leaseMs: 1_000 });
    expect(await commandsFor(admin, () => store.reap({ limit: 10 }))).toBeLessThan(20);
    now += 1_000;
    let reaped: readonly { readonly id: string }[] = [];
    const commands = await commandsFor(admin, async () => {
      reaped = await store.reap({ limit: 10 });
    });
    expect(reaped.map(({ id }) => id)).toEqual([leased?.id]);
    expect(commands).toBeLessThan(60);
  });

  it("a lease that an older version wrote is reaped too", async () => {
    await takeExactly(store, 1, { queue: "queue-9", leaseMs: 1_000 });
    await admin.unlink("{hf}:ra");
    now += 1_000;
    expect(await store.reap({ limit: 10 })).toHaveLength(1);
  });

  it("queues that are empty are forgotten, and known again by their next job", async () => {
    await finishAll();
    await store.prune([{ ...hour, olderThanMs: null, keep: 0 }], 5_000);
    now += 2 * 3_600_000;
    await store.prune([], 500);
    expect(await store.count()).toEqual([]);
    expect((await admin.keys("{hf:queue*")).length).toBe(0);
    const job = await insertOne(store, { queue: "queue-3" });
    expect((await takeExactly(store, 1, { queue: "queue-3" }))[0]?.id).toBe(job.id);
    expect(await store.count()).toMatchObject([{ queue: "queue-3", processing: 1 }]);
  });
});
