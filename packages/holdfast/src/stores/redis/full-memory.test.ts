/** A server whose memory is full: producers are told so, and work that is there is finished. */
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startOwnRedis, type OwnRedis } from "../../../../../test/servers/redis.ts";
import { StoreFullError } from "../../core/errors.ts";
import { insertSome, newJob, newJobs, QUEUE } from "../../testing/conformance/new-job.ts";
import { succeed, settlement } from "../../testing/conformance/settling.ts";
import { leaseRequest, takeExactly } from "../../testing/conformance/take.ts";
import { redisStore } from "./index.ts";

let server: OwnRedis;
beforeAll(async () => void (server = await startOwnRedis()));
afterAll(() => server.stop());

describe("when memory is full", () => {
  it("workers drain, producers get a typed error, and nothing is lost", async () => {
    const admin = new Redis(server.url);
    const store = redisStore({ url: server.url });
    await store.open();
    try {
      const waiting = await insertSome(store, 20);
      const running = await takeExactly(store, 5);
      await admin.config("SET", "maxmemory", "1");
      await expect(store.insert([newJob()])).rejects.toBeInstanceOf(StoreFullError);
      await expect(store.insert(newJobs(3, { queue: "new" }))).rejects.toMatchObject({
        code: "HOLDFAST_STORE_FULL",
      });
      const updates = { logs: ["still here"], progress: { percent: 50, message: null } };
      const renewals = running.map((job) => ({ ...job, updates }));
      expect(new Set(await store.renew(renewals, 60_000))).toEqual(new Set(["kept"]));
      const rest = await store.lease(leaseRequest(50));
      expect(rest.jobs).toHaveLength(15);
      const all = [...running, ...rest.jobs].map((job) => settlement(job, succeed("1")));
      expect(new Set(await store.settle(all))).toEqual(new Set(["settled"]));
      expect(await store.reap({ limit: 10 })).toEqual([]);
      const [counts] = await store.count();
      expect(counts).toMatchObject({ queue: QUEUE, ready: 0, processing: 0, succeeded: 20 });
      await store.prune([{ queue: null, status: "succeeded", olderThanMs: null, keep: 0 }], 100);
      const gone = await store.get(waiting.map(({ id }) => ({ id })));
      expect(new Set(gone)).toEqual(new Set(["pruned"]));
      await admin.config("SET", "maxmemory", "0");
      expect(await store.insert([newJob()])).toMatchObject([{ outcome: "added" }]);
    } finally {
      await store.close();
      admin.disconnect();
    }
  });
});
