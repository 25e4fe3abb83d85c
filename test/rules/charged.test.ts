/** A job is charged for what it did: a start that failed, or that took its process down. For nothing else. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  LeaseLostError,
  StoreUnavailableError,
  type Store,
} from "../../packages/holdfast/src/index.ts";
import type { Wakeup } from "../../packages/holdfast/src/core/store.ts";
import { adoptedJob } from "../../packages/holdfast/src/testing/conformance/new-job.ts";
import { outage } from "./outage.ts";
import { heard } from "./wakeup-links.ts";
import { openWorld, signal, STORES, type World } from "./world.ts";

describe.each(STORES)("what a job is charged for on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  /** The next so many replies of `lease` that bring jobs get lost on their way. */
  function losing(replies: number) {
    const state = { left: replies, lostJobs: 0, mayDisown: true };
    const link = (store: Store): Store =>
      new Proxy(store, {
        get(target, verb) {
          const member: unknown = Reflect.get(target, verb);
          if (verb === "disown" && !state.mayDisown) {
            return () =>
              Promise.reject(
                new StoreUnavailableError("nobody answers", { mayHaveHappened: false }),
              );
          }
          if (verb !== "lease") return member;
          return async (request: Parameters<Store["lease"]>[0]) => {
            const reply = await target.lease(request);
            if (reply.jobs.length === 0 || state.left === 0) return reply;
            state.left -= 1;
            state.lostJobs += reply.jobs.length;
            throw new StoreUnavailableError("the reply got lost", { mayHaveHappened: true });
          };
        },
      });
    return { link, state };
  }

  it("a job whose lease was not heard of is charged nothing", async () => {
    const { link, state } = losing(5);
    const { hf } = world.process({ link });
    let runs = 0;
    hf.define({ type: "pay", retry: { maxAttempts: 1 }, run: () => void (runs += 1) });
    const receipts = await Promise.all([1, 2, 3].map(() => hf.enqueue("pay", null)));
    await hf.work();
    await world.advance(3_000);
    expect(state.lostJobs).toBeGreaterThanOrEqual(5);
    for (const { id } of receipts) {
      expect(await hf.job(id)).toMatchObject({ status: "succeeded", attempts: 1, crashes: 0 });
    }
    expect(runs).toBe(3);
  });

  it("a job whose lease was not heard of goes back at once, also where other workers look for work", async () => {
    for (const workers of [2, 5]) {
      const wakes: ((wakeup: Wakeup) => void)[] = [];
      const { link, state } = losing(1);
      const { hf } = world.process({ link: (store) => heard(link(store), wakes) });
      hf.define({ type: "pay", retry: { maxAttempts: 1 }, run: () => {} });
      for (let n = 0; n < workers; n += 1) await hf.work({ queues: ["default"], leaseMs: 3_000 });
      await world.advance(20_000);
      const { id } = await hf.enqueue("pay", null, { queue: "default" });
      // The others ask after the first has lost its reply, and find nothing.
      for (const wake of wakes) {
        wake({ queues: ["default"], finished: [] });
        await world.advance(10);
      }
      await world.advance(1_000);
      expect(state.lostJobs).toBe(1);
      expect(await hf.job(id)).toMatchObject({ status: "succeeded", attempts: 1, crashes: 0 });
      await hf.close();
    }
  });

  it("a job whose lease arrives behind the words that disowned it goes back within seconds", async () => {
    let late: Promise<unknown> | null = null;
    let request: Parameters<Store["lease"]>[0] | null = null;
    const { hf } = world.process({
      link: (store) => ({
        ...store,
        async lease(asked) {
          if (request !== null) return store.lease(asked);
          request = asked;
          throw new StoreUnavailableError("nobody answers", { mayHaveHappened: true });
        },
        async disown(asked) {
          const count = await store.disown(asked);
          if (request) late ??= store.lease(request);
          await late;
          return count;
        },
      }),
    });
    hf.define({ type: "pay", retry: { maxAttempts: 1 }, run: () => {} });
    const { id } = await hf.enqueue("pay", null);
    await hf.work({ leaseMs: 60_000 });
    await world.advance(1_000);
    expect(await hf.job(id)).toMatchObject({ status: "processing" });
    await world.advance(3_000);
    expect(await hf.job(id)).toMatchObject({ status: "succeeded", attempts: 1, crashes: 0 });
  });

  it("a job whose lease was not heard of goes back also from a worker that is full, or quiet", async () => {
    for (const why of ["full", "quiet"] as const) {
      const { link, state } = losing(0);
      const { hf } = world.process({ link });
      const ended = signal();
      let isLong = false;
      hf.define({
        type: "pay",
        retry: { maxAttempts: 1 },
        run: () => (isLong ? ended.reached : undefined),
      });
      const worker = await hf.work({ queues: ["default"], concurrency: 2 });
      const pay = () => hf.enqueue("pay", null, { queue: "default" });
      // Quick ones: so it leases more than it has slots for.
      for (let n = 0; n < 20; n += 1) await pay();
      await world.until(() => worker.isIdle);
      isLong = true;
      if (why === "full") for (let n = 0; n < 2; n += 1) await pay();
      await world.until(() => worker.running.length === (why === "full" ? 2 : 0));
      Object.assign(state, { left: 1, mayDisown: false });
      const { id } = await pay();
      await world.until(() => state.lostJobs > 0);
      if (why === "quiet") await hf.workers.quiet(worker.id);
      await world.advance(6_000);
      state.mayDisown = true;
      await world.advance(2_000);
      expect(await hf.job(id), why).toMatchObject({ status: "queued", attempts: 0, crashes: 0 });
      if (why === "quiet") await hf.workers.resume(worker.id);
      ended.reach();
      await world.advance(6_000);
      expect(await hf.job(id), why).toMatchObject({ status: "succeeded", crashes: 0 });
      await hf.close();
    }
  });

  it("a stop ends also where what was leased cannot be disowned", async () => {
    const { link } = losing(1);
    let closed = false;
    const broken = (store: Store): Store =>
      new Proxy(link(store), {
        get(target, verb) {
          if (verb === "disown") return () => Promise.reject(new Error("permission denied"));
          if (verb === "close") return () => ((closed = true), target.close());
          return Reflect.get(target, verb) as unknown;
        },
      });
    const { hf } = world.process({ link: broken });
    hf.handle("work", () => {});
    await hf.enqueue("work", null, { queue: "default" });
    await hf.work({ queues: ["default"] });
    await world.advance(500);
    const closing = hf.close();
    await world.advance(6_000);
    await closing;
    expect(closed).toBe(true);
  });

  it("what a worker runs stays its own while it disowns what it never heard of", async () => {
    const { link, state } = losing(0);
    const { hf } = world.process({ link });
    const ended = signal();
    hf.handle("long", async () => {
      await ended.reached;
      return "kept";
    });
    hf.handle("short", () => "ran");
    const long = await hf.enqueue("long", null, { queue: "default" });
    await hf.work();
    await world.advance(500);
    state.left = 1;
    const short = await hf.enqueue("short", null, { queue: "default" });
    await world.advance(15_000);
    expect(await hf.job(short.id)).toMatchObject({ status: "succeeded", attempts: 1, crashes: 0 });
    expect(await hf.job(long.id)).toMatchObject({ status: "processing", attempts: 1 });
    ended.reach();
    await world.advance(100);
    expect(await hf.job(long.id)).toMatchObject({ status: "succeeded", attempts: 1, crashes: 0 });
  });

  it("a process that dies before it can disown leaves crashes behind", async () => {
    const { link } = losing(1);
    const dying = world.process({ link });
    dying.hf.define({ type: "pay", retry: { maxAttempts: 3 }, run: () => "paid" });
    const { id } = await dying.hf.enqueue("pay", null);
    void dying.hf.work();
    await world.until(async () => {
      const [job] = await world.store.get([{ id }]);
      return typeof job === "object" && job?.status === "processing";
    });
    dying.kill();
    const heir = world.process();
    heir.hf.define({ type: "pay", retry: { maxAttempts: 3 }, run: () => "paid" });
    await heir.hf.work();
    await world.advance(24_000);
    expect(await heir.hf.job(id)).toMatchObject({ status: "succeeded", attempts: 2, crashes: 1 });
  });

  /** A handler that runs until it is told to end, in a world whose store can be cut off from it. */
  async function running(options: { onOutage?: "abort" | "continue"; heedsSignal?: boolean } = {}) {
    const faults = outage();
    const { hf } = world.process({ link: (store) => faults.link(store) });
    const ended = signal();
    let runs = 0;
    const aborts: unknown[] = [];
    hf.define({
      type: "work",
      retry: { maxAttempts: 1 },
      onOutage: options.onOutage,
      async run(job) {
        runs += 1;
        if (runs > 1) return "again";
        const aborted = new Promise<never>((_, reject) => {
          job.signal.addEventListener("abort", () => {
            aborts.push(job.signal.reason);
            if (options.heedsSignal ?? true) reject(job.signal.reason as Error);
          });
        });
        await Promise.race([ended.reached, aborted]);
        if (options.onOutage === "continue") await job.step("after", () => "stored");
        return "first";
      },
    });
    const { id } = await hf.enqueue("work", null);
    await hf.work();
    await world.until(() => runs === 1);
    await world.advance(4_000);
    return { hf, id, faults, ended, aborts, runs: () => runs };
  }

  it("an outage longer than the lease aborts a handler and charges its job nothing", async () => {
    const { hf, id, faults, aborts, runs } = await running();
    faults.mode = "deaf";
    await world.advance(15_000);
    expect(aborts).toHaveLength(1);
    expect(aborts[0]).toBeInstanceOf(LeaseLostError);
    faults.mode = "none";
    await world.advance(3_000);
    expect(runs()).toBe(2);
    expect(await hf.job(id)).toMatchObject({ status: "succeeded", attempts: 1, crashes: 0 });
  });

  it("a handler that ignores the abort is handed back all the same", async () => {
    const { hf, id, faults, ended, runs } = await running({ heedsSignal: false });
    faults.mode = "away";
    await world.advance(16_000);
    faults.mode = "none";
    await world.advance(3_000);
    expect(runs()).toBe(2);
    ended.reach();
    await world.advance(500);
    const job = await hf.job(id);
    expect(job).toMatchObject({ status: "succeeded", attempts: 1, crashes: 0, result: "again" });
  });

  it("a handler that returns during the outage has succeeded once the store is back", async () => {
    const { hf, id, faults, ended, runs } = await running({ heedsSignal: false });
    faults.mode = "away";
    await world.advance(12_000);
    ended.reach();
    await world.advance(1_000);
    faults.mode = "none";
    await world.advance(3_000);
    expect(runs()).toBe(1);
    expect(await hf.job(id)).toMatchObject({ status: "succeeded", attempts: 1, result: "first" });
  });

  it("a type that goes on through outages is not aborted, and what it says waits", async () => {
    const { hf, id, faults, ended, aborts, runs } = await running({ onOutage: "continue" });
    faults.mode = "away";
    await world.advance(20_000);
    ended.reach();
    await world.advance(5_000);
    expect(aborts).toEqual([]);
    faults.mode = "none";
    await world.advance(3_000);
    expect(runs()).toBe(1);
    const job = await hf.job(id);
    expect(job).toMatchObject({ status: "succeeded", attempts: 1, crashes: 0, result: "first" });
    expect(job!.steps).toEqual(["after"]);
  });

  it("a type that goes on through outages stops once another worker has its job", async () => {
    const { id, faults, aborts } = await running({ onOutage: "continue" });
    faults.mode = "away";
    const other = world.process();
    other.hf.define({ type: "work", retry: { maxAttempts: 1 }, run: () => "other" });
    await other.hf.work();
    await world.advance(25_000);
    expect(aborts).toEqual([]);
    faults.mode = "none";
    await world.advance(4_000);
    expect(aborts).toHaveLength(1);
    expect(await other.hf.job(id)).toMatchObject({ status: "dead", reason: "crashed" });
  });

  /** So many jobs that crashed twice before, for reasons of their own. */
  async function suspects(count: number): Promise<string[]> {
    const now = await world.store.now();
    const jobs = Array.from({ length: count }, () =>
      adoptedJob({
        ...{ queue: "default", type: "suspect", status: "queued", crashes: 2, attempts: 2 },
        ...{ maxAttempts: 10, createdAt: now, runAt: now },
      }),
    );
    for (let from = 0; from < count; from += 100) {
      await world.store.adopt(jobs.slice(from, from + 100));
    }
    return jobs.map(({ id }) => id);
  }

  it("jobs that are one crash from poison run one at a time, beside all others", async () => {
    await suspects(60);
    const { hf } = world.process();
    let running = 0;
    let most = 0;
    let done = 0;
    const waiting: (() => void)[] = [];
    hf.handle("suspect", async () => {
      most = Math.max(most, (running += 1));
      await new Promise<void>((resolve) => waiting.push(resolve));
      running -= 1;
      done += 1;
    });
    let healthy = 0;
    hf.handle("healthy", () => void (healthy += 1));
    for (let n = 0; n < 200; n += 1) await hf.enqueue("healthy", null, { queue: "default" });
    let handedBack = 0;
    hf.on("released", () => (handedBack += 1));
    await hf.work();
    await world.advance(2_000);
    // The first suspect is still running: nothing that is healthy waits for it.
    expect({ healthy, running }).toEqual({ healthy: 200, running: 1 });
    for (let turn = 0; turn < 4_000 && done < 60; turn += 1) {
      waiting.shift()?.();
      await world.advance(50);
    }
    expect({ done, most }).toEqual({ done: 60, most: 1 });
    // Handed back for longer each time: a handful of times for each, not dozens.
    expect(handedBack).toBeLessThan(60 * 8);
  });

  it("suspects that wait in a process when it dies are not charged", async () => {
    const ids = await suspects(5);
    const dying = world.process();
    let isRunning = false;
    dying.hf.handle("suspect", () => {
      isRunning = true;
      return new Promise(() => {});
    });
    await dying.hf.work();
    await world.until(() => isRunning);
    dying.kill();
    const heir = world.process();
    const dead: string[] = [];
    heir.hf.on("dead", ({ id, reason }) => dead.push(`${reason} ${id}`));
    heir.hf.handle("suspect", () => "innocent");
    await heir.hf.work();
    await world.advance(40_000);
    expect(dead).toHaveLength(1);
    expect(dead[0]).toMatch(/^poison /);
    const survivors = ids.filter((id) => !dead[0]!.endsWith(id));
    for (const id of survivors) {
      expect(await heir.hf.job(id)).toMatchObject({ status: "succeeded", crashes: 2 });
    }
  });
});
