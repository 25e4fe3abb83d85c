/** However many pages look at queues, the store is asked for its counts once a second. */
import { Holdfast, type Store } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { overviewFor, OverviewReader } from "../../packages/server/src/overview.ts";
import { countedStore } from "../../bench/dashboard/counted-store.ts";
import { serve, type Served } from "./served.ts";

const countsOf = (ready: number, oldestReadyAt: number) => ({
  ...{ ready, delayed: 0, processing: 0, succeeded: 0, dead: 0, cancelled: 0, retrying: 0 },
  oldestReadyAt,
});

describe("counts for those who look", () => {
  it("are read once for overviews and queues, and again a second later", async () => {
    const { store, take } = countedStore(memoryStore());
    const hf = new Holdfast({ store });
    let now = 1_000_000;
    const reader = new OverviewReader(hf, () => now);
    const looks = () => Promise.all([reader.counts(), reader.read(), reader.read()]);
    try {
      await looks();
      await looks();
      expect(take().byVerb["count"]).toBe(1);
      now += 999;
      await looks();
      expect(take().byVerb["count"]).toBeUndefined();
      now += 1;
      await Promise.all([looks(), looks()]);
      expect(take().byVerb["count"]).toBe(1);
    } finally {
      await hf.close();
    }
  });

  it("that could not be read are asked for by the next who wants them", async () => {
    const own = memoryStore();
    let isAway = true;
    const count: Store["count"] = async () => {
      if (isAway) throw new Error("away");
      return own.count();
    };
    const store = new Proxy(own, {
      get: (target, name) => {
        if (name === "count") return count;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const hf = new Holdfast({ store });
    const reader = new OverviewReader(hf, () => 1_000_000);
    try {
      await expect(reader.counts()).rejects.toThrow("away");
      isAway = false;
      expect(await reader.counts()).toEqual({});
    } finally {
      await hf.close();
    }
  });

  it("show the queue that is latest, also where hundreds are larger", async () => {
    const counts = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, at) => [
        `q-${at}`,
        countsOf(at === 7 ? 1 : 10, 2_000 + at),
      ]),
    );
    counts["q-7"] = countsOf(1, 1_000);
    const hf = new Holdfast({ store: memoryStore() });
    hf.counts = async () => counts as never;
    try {
      await hf.pause("q-7", { by: "ops", reason: "month end" });
      const snapshot = await new OverviewReader(hf, () => 1_000_000).read();
      const caller = { queues: null } as never;
      const { queues, queueCount, totals } = overviewFor(hf, snapshot, caller);
      expect(queueCount).toBe(5_000);
      expect(queues).toHaveLength(200);
      expect(totals.oldestReadyAt).toEqual(new Date(1_000));
      const latest = queues.find(({ queue }) => queue === "q-7");
      expect(latest).toMatchObject({ ready: 1, holds: ["month end"] });
    } finally {
      await hf.close();
    }
  });

  describe("over HTTP", () => {
    let served: Served;
    let take: ReturnType<typeof countedStore>["take"];

    beforeAll(async () => {
      const link = (own: Store) => {
        const counted = countedStore(own);
        take = counted.take;
        return counted.store;
      };
      served = await serve("sqlite", {}, { link });
      await served.hf.enqueue("email.send" as never, {} as never, { queue: "mail" } as never);
    });
    afterAll(() => served?.close());

    it("are shared by the pages of queues, the doctor and the overview", async () => {
      take();
      const paths = ["overview", "queues", "queues/mail", "doctor"];
      await Promise.all(paths.map((path) => served.data("GET", `/api/v1/${path}`)));
      // One, unless this machine takes longer than a second for the four of them.
      expect(take().countedAt.length).toBeLessThan(paths.length);
    });
  });
});
