/** What is bounded: bytes of a lease, reads of a waiter, jobs of a spool, what a process remembers. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StoreFullError, type Store } from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { outage } from "./outage.ts";
import { openWorld, signal, STORES, type World } from "./world.ts";

describe.each(STORES)("bounds on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  /** Shows what went over one verb. */
  function shown<Verb extends "lease" | "get">(
    verb: Verb,
    show: (args: Parameters<Store[Verb]>, reply: Awaited<ReturnType<Store[Verb]>>) => void,
  ) {
    return (store: Store): Store =>
      new Proxy(store, {
        get(target, key) {
          const member: unknown = Reflect.get(target, key);
          if (key !== verb) return member;
          return async (...args: Parameters<Store[Verb]>) => {
            const call = member as (...given: Parameters<Store[Verb]>) => ReturnType<Store[Verb]>;
            const reply = await Reflect.apply(call, target, args);
            show(args, reply as Awaited<ReturnType<Store[Verb]>>);
            return reply;
          };
        },
      });
  }

  it("a lease and the buffer bring no more bytes than they may", async () => {
    const sizes: number[] = [];
    const link = shown("lease", (_, { jobs }) => {
      if (jobs.length > 0) sizes.push(jobs.reduce((sum, { payload }) => sum + payload.length, 0));
    });
    const { hf } = world.process({ link });
    let runs = 0;
    hf.handle("large", () => void (runs += 1));
    const payload = "x".repeat(100_000);
    for (let n = 0; n < 120; n += 1) await hf.enqueue("large", payload, { queue: "default" });
    await hf.work({ concurrency: 20, leaseBytes: 500_000 });
    await world.advance(5_000);
    expect(runs).toBe(120);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(500_020);
    expect(sizes.length).toBeGreaterThanOrEqual(24);
  });

  it("a job larger than the bound runs, alone", async () => {
    const { hf } = world.process();
    let runs = 0;
    hf.handle("large", () => void (runs += 1));
    for (let n = 0; n < 3; n += 1) {
      await hf.enqueue("large", "x".repeat(10_000), { queue: "default" });
    }
    await hf.work({ leaseBytes: 100 });
    await world.advance(2_000);
    expect(runs).toBe(3);
  });

  it("a hint about one job asks for that job, not for all that are awaited", async () => {
    const asked: number[] = [];
    const link = shown("get", ([refs]) => asked.push(refs.length));
    const { hf } = world.process({ link });
    const first = signal();
    const rest = signal();
    hf.handle("work", (job) => (job.payload === 0 ? first.reached : rest.reached));
    const receipts = [];
    for (let n = 0; n < 150; n += 1) {
      receipts.push(await hf.enqueue("work", n, { queue: "default" }));
    }
    await hf.work({ concurrency: 150 });
    await world.advance(100);
    const waits = receipts.map((receipt) => hf.waitFor(receipt));
    await world.time.settle();
    asked.length = 0;
    first.reach();
    await waits[0];
    expect(Math.max(...asked)).toBeLessThanOrEqual(5);
    rest.reach();
    await world.advance(500);
    await Promise.all(waits);
  });

  it("a worker that has stopped is forgotten", async () => {
    const { hf } = world.process();
    hf.handle("work", () => {});
    for (let n = 0; n < 3; n += 1) {
      const worker = await hf.work({ queues: ["default"] });
      expect(hf.health().workers).toHaveLength(1);
      await worker.stop();
    }
    expect(hf.health().workers).toEqual([]);
    expect(await hf.workers.list()).toEqual([]);
  });

  it("a full spool refuses, and takes again once the store is back", async () => {
    const gap = outage();
    const spool = memoryStore();
    const { hf } = world.process({
      link: (store) => gap.link(store),
      resilient: { spool, maxJobs: 2 },
    });
    await hf.info();
    const enqueue = () => hf.enqueue("work", null, { queue: "default" });
    gap.mode = "away";
    await enqueue();
    await enqueue();
    await expect(enqueue()).rejects.toThrow(StoreFullError);
    gap.mode = "none";
    await world.advance(3_000);
    await enqueue();
    expect((await hf.counts())["default"]).toMatchObject({ ready: 3 });
  });

  it("a spooled job that the store refuses for good is put aside, and the others go on", async () => {
    const gap = outage();
    const spool = memoryStore();
    const refusing = (store: Store): Store =>
      new Proxy(store, {
        get(target, verb) {
          const member: unknown = Reflect.get(target, verb);
          if (verb !== "insert") return member;
          return async (...[jobs, how]: Parameters<Store["insert"]>) => {
            if (jobs.some(({ payload }) => payload === '"bad"')) throw new Error("bad row");
            return target.insert(jobs, how);
          };
        },
      });
    const { hf, said } = world.process({
      link: (store) => gap.link(refusing(store)),
      resilient: { spool },
    });
    await hf.info();
    gap.mode = "away";
    for (const payload of ["a", "bad", "b"]) await hf.enqueue("work", payload, { queue: "q" });
    gap.mode = "none";
    await world.advance(5_000);
    expect((await hf.counts())["q"]).toMatchObject({ ready: 2 });
    expect(hf.health().spooled).toBe(0);
    expect(said.some((line) => line.includes("is put aside"))).toBe(true);
    const { records } = await spool.records.scan({ prefix: "holdfast/spool-refused/", limit: 9 });
    expect(records).toHaveLength(1);
  });
});
