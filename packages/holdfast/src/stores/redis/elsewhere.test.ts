import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  redisHouse,
  redisPlace,
  type RedisHouse,
} from "../../../../../test/servers/redis-place.ts";
import type { Store } from "../../core/store.ts";
import { adoptedJob, newJob } from "../../testing/conformance/new-job.ts";

const OLD_ID = "01900000-0000-7000-8000-000000000001";

for (const server of ["redis", "redis-cluster"] as const) {
  describe(`ids on ${server}`, () => {
    let house: RedisHouse;
    let place: Awaited<ReturnType<typeof redisPlace>>;
    let store: Store;
    beforeAll(async () => void (house = await redisHouse(server)));
    afterAll(() => house.close());
    beforeEach(async () => {
      place = await redisPlace(house);
      store = await place.open();
      await store.open();
    });
    afterEach(async () => {
      await store.close();
      await place.dispose();
    });

    it("an old id that is in another queue is a duplicate", async () => {
      await store.insert([newJob({ id: OLD_ID, queue: "mail" })]);
      expect(await store.insert([newJob({ id: OLD_ID, queue: "sms" })])).toEqual([
        { outcome: "duplicate", id: OLD_ID, status: "queued" },
      ]);
      await store.remove({ ids: [{ id: OLD_ID }] }, { reason: null, by: null });
      expect(await store.insert([newJob({ id: OLD_ID, queue: "sms" })])).toEqual([
        { outcome: "duplicate", id: OLD_ID, status: "pruned" },
      ]);
    });

    it("of one id for two queues in a call the earlier is stored", async () => {
      const jobs = ["sms", "mail", "sms"].map((queue) => newJob({ id: OLD_ID, queue }));
      const duplicate = { outcome: "duplicate", id: OLD_ID, status: "queued" };
      expect(await store.insert(jobs)).toEqual([
        { outcome: "added", id: OLD_ID },
        ...[duplicate, duplicate],
      ]);
    });

    it("an adopted job is looked for in every queue", async () => {
      const job = newJob({ queue: "mail" });
      await store.insert([job]);
      expect(await store.adopt([adoptedJob({ id: job.id, queue: "sms" })])).toEqual([
        { outcome: "duplicate", id: job.id, status: "queued" },
      ]);
    });
  });
}
