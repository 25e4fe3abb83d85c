import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LeaseLostError, StoreUnavailableError } from "../../packages/holdfast/src/index.ts";
import { openWorld, signal, STORES, type World } from "./world.ts";

const CONTACT = new Set(["now", "lease", "renew", "settle", "reap"]);

describe.each(STORES)("leases on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  /** A link that can be cut: every call fails as if the store were gone. */
  function cuttable() {
    let cut = false;
    /** When calls that count as contact were let through since it was mended. */
    let passed: number[] = [];
    const link = <Part extends object>(part: Part): Part =>
      new Proxy(part, {
        get(target, verb, receiver) {
          const member: unknown = Reflect.get(target, verb, receiver);
          if (typeof member === "object" && member !== null) return link(member);
          if (typeof member !== "function" || verb === "info" || verb === "onWakeup") return member;
          return async (...args: unknown[]): Promise<unknown> => {
            if (cut) throw new StoreUnavailableError("cut", { mayHaveHappened: true });
            if (CONTACT.has(String(verb))) passed.push(world.time.now);
            return Reflect.apply(member, target, args);
          };
        },
      });
    return {
      link,
      cut(is: boolean) {
        cut = is;
        passed = [];
      },
      firstPassed: () => passed[0] ?? Infinity,
    };
  }

  it("live workers renew before anybody reaps after an outage", async () => {
    const wire = cuttable();
    const first = world.process({ link: wire.link });
    const second = world.process({ link: wire.link });
    let runs = 0;
    const ended = signal();
    for (const { hf } of [first, second]) {
      hf.handle("work", async () => {
        runs += 1;
        await ended.reached;
        return "done";
      });
    }
    const receipt = await first.hf.enqueue("work", null, { queue: "default" });
    await first.hf.work();
    await world.until(() => runs === 1);
    await second.hf.work();
    await world.advance(11_000);

    // Cut just after a renewal; its handler ends during the outage, and says so afterwards.
    wire.cut(true);
    await world.advance(2_000);
    ended.reach();
    await world.advance(13_000);
    wire.cut(false);
    await world.advance(5_000);
    expect(runs).toBe(1);
    expect(await first.hf.job(receipt.id)).toMatchObject({
      status: "succeeded",
      attempts: 1,
      crashes: 0,
      result: "done",
    });
  });

  it("after an outage the jobs of the dead come back once everybody had a lease's time to renew", async () => {
    const wire = cuttable();
    const { hf } = world.process({ link: wire.link });
    hf.handle("work", () => "done");
    const receipt = await hf.enqueue("work", null, { queue: "default" });
    const queues = [{ queue: "default", limit: 1 }];
    await world.store.lease({ worker: "dead", leaseMs: 1_000, limit: 1, queues });
    let reapedAt = Infinity;
    hf.on("reaped", () => (reapedAt = world.time.now));
    wire.cut(true);
    await hf.work();
    await world.advance(5_000);
    wire.cut(false);
    await world.advance(12_000);
    const waitedMs = reapedAt - wire.firstPassed();
    expect(waitedMs).toBeGreaterThanOrEqual(10_000);
    expect(waitedMs).toBeLessThan(10_100);
    expect(await hf.job(receipt.id)).toMatchObject({ status: "succeeded", crashes: 1 });
  });

  it("a worker gives up its lease before anybody else can have it", async () => {
    const wire = cuttable();
    const cutOff = world.process({ link: wire.link });
    const other = world.process();
    const events: string[] = [];
    cutOff.hf.handle("work", (job) => {
      events.push("first starts");
      return new Promise((_, reject) => {
        job.signal.addEventListener("abort", () => {
          events.push(job.signal.reason instanceof LeaseLostError ? "first gives up" : "wrong");
          reject(job.signal.reason);
        });
      });
    });
    other.hf.handle("work", () => void events.push("second starts"));
    const { id } = await other.hf.enqueue("work", null);
    await cutOff.hf.work();
    await world.until(() => events.length === 1);
    await other.hf.work();
    wire.cut(true);
    await world.advance(13_000);
    expect(events).toEqual(["first starts", "first gives up", "second starts"]);
    wire.cut(false);
    await world.advance(2_000);
    expect(await other.hf.job(id)).toMatchObject({ status: "succeeded", attempts: 2, crashes: 1 });
  });

  it("a stale worker's result is not stored", async () => {
    const frozen = world.process();
    const started = signal();
    const thaw = signal();
    const lost: string[] = [];
    frozen.hf.handle("work", async () => {
      started.reach();
      await thaw.reached;
      return "stale";
    });
    frozen.hf.on("lost", (event) => lost.push(event.id));
    const { id } = await frozen.hf.enqueue("work", null, { queue: "default" });
    await frozen.hf.work({ concurrency: 1 });
    await started.reached;
    // Whatever it holds is taken from it in the store: as if it had been frozen past its lease.
    const before = world.time.now;
    while ((await world.store.reap({ limit: 10 })).length === 0) {
      await stealTime(world);
      if (world.time.now - before > 60_000) throw new Error("never expired");
    }
    const other = world.process();
    other.hf.handle("work", () => "fresh");
    await other.hf.work();
    await world.until(async () => (await other.hf.job(id))?.status === "succeeded");
    thaw.reach();
    await world.advance(5_000);
    expect(await other.hf.job(id)).toMatchObject({ status: "succeeded", result: "fresh" });
    expect(lost).toEqual([id]);
  });

  it("a handler that ignores its signal is settled without and keeps its slot", async () => {
    const { hf, said } = world.process();
    const gate = signal();
    const abandoned: string[] = [];
    hf.on("abandoned", ({ type }) => abandoned.push(type));
    hf.define({
      type: "deaf",
      timeoutMs: 1_000,
      retry: { maxAttempts: 1 },
      run: () => gate.reached,
    });
    hf.define({ type: "next", run: () => "ran" });
    const deaf = await hf.enqueue("deaf", null);
    const next = await hf.enqueue("next", null);
    await hf.work({ concurrency: 1 });
    await world.advance(6_500);
    expect(await hf.job(deaf.id)).toMatchObject({
      status: "dead",
      error: { category: "timeout" },
    });
    expect(abandoned).toEqual(["deaf"]);
    expect(said.join()).toContain("goes on after its signal aborted");
    expect((await hf.job(next.id))?.status).toBe("queued");
    gate.reach();
    await world.until(async () => (await hf.job(next.id))?.status === "succeeded");
  });

  it("a schema that never answers is given up like a handler", async () => {
    const { hf } = world.process();
    const gate = signal();
    let runs = 0;
    const validate = async (value: unknown) => {
      await gate.reached;
      return { value };
    };
    hf.define({
      type: "asks",
      payload: { "~standard": { version: 1, vendor: "test", validate } },
      timeoutMs: 1_000,
      retry: { maxAttempts: 1 },
      run: () => void runs++,
    });
    const { id } = await world
      .process()
      .hf.enqueue("asks", {}, { queue: "default", maxAttempts: 1 });
    await hf.work();
    await world.advance(6_500);
    expect(await hf.job(id)).toMatchObject({ status: "dead", error: { category: "timeout" } });
    gate.reach();
    await world.advance(1_000);
    expect(runs).toBe(0);
  });

  it("a backward jump of the store's clock stops nothing and repeats nothing", async () => {
    const { hf } = world.process();
    let runs = 0;
    hf.define({ type: "later", run: () => void (runs += 1) });
    const { id } = await hf.enqueue("later", null, { delayMs: 10_000 });
    await hf.work();
    await world.advance(9_000);
    const before = await world.store.now();
    world.jumpStoreClock(-3_600_000);
    expect(await world.store.now()).toBeGreaterThanOrEqual(before);
    expect(runs).toBe(0);
    // It goes on a little slower, until the host's has caught up.
    await world.advance(2_500);
    expect(runs).toBe(1);
    world.jumpStoreClock(3_600_000);
    await world.advance(1_500);
    expect(runs).toBe(1);
    expect(await hf.job(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  });

  it("every work() has a worker id of its own", async () => {
    const { hf } = world.process();
    hf.define({ type: "any", run: () => {} });
    const workers = [await hf.work(), await hf.work(), await hf.work()];
    expect(new Set(workers.map(({ id }) => id)).size).toBe(3);
  });

  it("the defaults are as written", async () => {
    const { hf } = world.process();
    const started = signal();
    let leases = 0;
    hf.define({
      type: "any",
      run: () => {
        leases += 1;
        started.reach();
        return new Promise(() => {});
      },
    });
    const receipts = await hf.enqueueAll(
      Array.from({ length: 12 }, () => ({ type: "any", payload: null })),
    );
    expect(receipts.every(({ status }) => status === "added")).toBe(true);
    await hf.work();
    await started.reached;
    await world.advance(500);
    expect(leases).toBe(10);
    const { jobs } = await hf.jobs({ status: "processing" });
    const [job] = jobs;
    expect(job).toMatchObject({ maxAttempts: 5, priority: 100 });
    expect(job!.leaseUntil!.getTime() - job!.leasedAt!.getTime()).toBe(10_000);
    await world.advance(3_100);
    const renewed = await hf.job(job!.id);
    expect(renewed!.leaseUntil!.getTime()).toBeGreaterThan(job!.leaseUntil!.getTime() + 2_000);
  });

  it("several queues of one worker take fair turns", async () => {
    const { hf } = world.process();
    const order: string[] = [];
    for (const queue of ["busy", "quiet"]) {
      hf.define({ type: `${queue}.job`, queue, run: (job) => void order.push(job.queue) });
    }
    await hf.enqueueAll(Array.from({ length: 500 }, () => ({ type: "busy.job", payload: null })));
    await hf.enqueueAll(Array.from({ length: 5 }, () => ({ type: "quiet.job", payload: null })));
    await hf.work({ concurrency: 2 });
    await world.until(() => order.length === 505);
    expect(order.lastIndexOf("quiet")).toBeLessThan(100);
  });

  it("several queues under caps take fair turns too, also beside one without", async () => {
    const { hf } = world.process();
    const order: string[] = [];
    const queues = { free: 1, busy: 3, quiet: 1 };
    for (const queue of Object.keys(queues)) {
      if (queue !== "free") await hf.limit(queue, { maxActivePerGroup: 1_000 });
      hf.define({ type: `${queue}.job`, queue, run: (job) => void order.push(job.queue) });
    }
    for (const [type, count] of [
      ["busy.job", 600],
      ["quiet.job", 200],
      ["free.job", 1_000],
    ] as const) {
      await hf.enqueueAll(Array.from({ length: count }, () => ({ type, payload: null })));
    }
    await hf.work({ queues, concurrency: 4 });
    await world.until(() => order.length === 1_800);
    const capped = order.filter((queue) => queue !== "free").slice(0, 400);
    const quiet = capped.filter((queue) => queue === "quiet").length;
    // One in four.
    expect(quiet).toBeGreaterThan(60);
    expect(quiet).toBeLessThan(140);
  });
});

/** Time passes for the store alone: no timer of any process fires. */
async function stealTime(world: World): Promise<void> {
  world.time.leap(1_000);
  await world.store.now();
}
