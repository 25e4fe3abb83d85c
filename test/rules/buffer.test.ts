import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StoreUnavailableError, type Store } from "../../packages/holdfast/src/index.ts";
import { openWorld, signal, STORES, type World } from "./world.ts";

describe.each(STORES)("what a worker may keep to itself on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  const many = (type: string, count: number) =>
    Array.from({ length: count }, () => ({ type, payload: null, queue: "default" }));

  it("what does not start within a second is handed back", async () => {
    const busy = world.process();
    const idle = world.process();
    const gate = signal();
    const ran: string[] = [];
    for (const [who, { hf }] of Object.entries({ busy, idle })) {
      hf.handle("quick", () => void ran.push(who));
      hf.handle("long", () => gate.reached);
    }
    // Quick ones teach the busy worker to buffer; then long ones take all its slots.
    await busy.hf.work({ concurrency: 5 });
    await busy.hf.enqueueAll(many("quick", 100));
    await world.until(() => ran.length === 100);
    await busy.hf.enqueueAll([...many("long", 5), ...many("quick", 50)]);
    await world.until(async () => ((await busy.hf.counts())["default"]?.processing ?? 0) >= 5);
    await idle.hf.work({ concurrency: 5 });
    await world.advance(2_500);
    expect(ran.slice(100)).toEqual(Array.from({ length: 50 }, () => "idle"));
    gate.reach();
    const { jobs } = await busy.hf.jobs({ type: "quick", limit: 200 });
    expect(jobs.every(({ attempts, crashes }) => attempts === 1 && crashes === 0)).toBe(true);
  });

  it("capped lines are not buffered", async () => {
    const { hf } = world.process();
    const gate = signal();
    let quick = true;
    hf.define({ type: "work", run: () => (quick ? undefined : gate.reached) });
    await hf.limit("default", { maxActive: 20 });
    const worker = await hf.work({ concurrency: 2 });
    await hf.enqueueAll(many("work", 100));
    await world.until(async () => (await hf.counts())["default"]?.succeeded === 100);
    quick = false;
    await hf.enqueueAll(many("work", 50));
    await world.until(() => worker.running.length === 2);
    await world.advance(200);
    expect((await hf.counts())["default"]).toMatchObject({ processing: 2 });
    gate.reach();
  });

  it("the next jobs are asked for while those before them run", async () => {
    const ran: string[] = [];
    const heldWhenAsked: number[] = [];
    let leased = 0;
    const watched = (store: Store): Store => ({
      ...store,
      async lease(request) {
        heldWhenAsked.push(leased - ran.length);
        const reply = await store.lease(request);
        leased += reply.jobs.length;
        return reply;
      },
    });
    const { hf } = world.process({ link: watched });
    hf.handle("quick", ({ id }) => void ran.push(id));
    await hf.work({ concurrency: 5 });
    await hf.enqueueAll(many("quick", 4_000));
    await world.until(() => ran.length === 4_000);
    expect(Math.max(...heldWhenAsked)).toBeGreaterThan(5);
    expect(new Set(ran).size).toBe(4_000);
  });

  it("capped lines do not wait for a poll behind jobs that were asked for ahead", async () => {
    const { hf } = world.process();
    let ran = 0;
    hf.handle("quick", () => void (ran += 1));
    await hf.limit({ queue: "default", group: "capped" }, { maxActive: 2 });
    await hf.enqueueAll([
      ...many("quick", 40).map((job) => ({ ...job, group: "capped" })),
      ...many("quick", 2_000),
    ]);
    await hf.work({ concurrency: 5 });
    await world.until(() => ran === 2_040);
  });

  it("a job that is one crash away from poison does not wait in a buffer", async () => {
    const producer = world.process();
    await producer.hf.enqueueAll(many("work", 3));
    // Two crashes each, by leases nobody renews.
    for (let crash = 0; crash < 2; crash += 1) {
      const request = { worker: "doomed", leaseMs: 50, limit: 3 };
      await world.store.lease({ ...request, queues: [{ queue: "default", limit: 3 }] });
      await world.advance(100);
      await world.store.reap({ limit: 10 });
    }
    const { hf } = world.process();
    const gate = signal();
    let running = 0;
    let most = 0;
    hf.handle("work", async () => {
      most = Math.max(most, (running += 1));
      await gate.reached;
      running -= 1;
    });
    await hf.work({ concurrency: 1 });
    await world.until(() => running === 1);
    expect((await hf.counts())["default"]).toMatchObject({ processing: 1 });
    gate.reach();
    await world.advance(5_000);
    expect(most).toBe(1);
    expect((await hf.counts())["default"]).toMatchObject({ succeeded: 3 });
  });

  it("once a try was in doubt, the caller is never told that it surely did not happen", async () => {
    let tries = 0;
    const doubtful = (store: Store): Store =>
      new Proxy(store, {
        get(target, verb, receiver) {
          const member: unknown = Reflect.get(target, verb, receiver);
          if (verb !== "insert") return typeof member === "function" ? member.bind(target) : member;
          return async (...args: Parameters<Store["insert"]>) => {
            tries += 1;
            if (tries === 1) await target.insert(...args);
            throw new StoreUnavailableError("away", { mayHaveHappened: tries === 1 });
          };
        },
      });
    const { hf } = world.process({ link: doubtful });
    const enqueuing = hf.enqueue("work", null, { queue: "q" }).catch((error: unknown) => error);
    await world.advance(5_000);
    const error = await enqueuing;
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({ mayHaveHappened: true });
    expect((await hf.jobs()).jobs).toHaveLength(1);
  });
});
