/** A fleet: who is there, who asks, who may reap, and what an idle process costs. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WorkerNotFoundError, type Store } from "../../packages/holdfast/src/index.ts";
import type { Wakeup } from "../../packages/holdfast/src/core/store.ts";
import { crossing, heard } from "./wakeup-links.ts";
import { openWorld, signal, STORES, type World } from "./world.ts";

describe.each(STORES)("a fleet on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  it("every live worker is on record, and nobody else", async () => {
    const first = world.process({ appVersion: "2.4.1" });
    const second = world.process();
    first.hf.handle("mail", () => {});
    second.hf.handle("mail", () => {});
    const one = await first.hf.work({ queues: ["mail"], concurrency: 3 });
    const other = await second.hf.work({ queues: ["mail", "sms"] });
    const listed = await first.hf.workers.list();
    expect(listed.map(({ id }) => id).toSorted()).toEqual([one.id, other.id].toSorted());
    expect(listed.find(({ id }) => id === one.id)).toMatchObject({
      ...{ version: "2.4.1", queues: ["mail"], types: ["mail"], slots: 3, active: 0 },
      ...{ leaseMs: 10_000, isQuiet: false, running: [] },
    });
    await one.stop();
    await world.advance(100);
    expect((await second.hf.workers.list()).map(({ id }) => id)).toEqual([other.id]);
    second.kill();
    await world.advance(21_000);
    expect(await first.hf.workers.list()).toEqual([]);
  });

  it("a record says what runs, and how its process is doing", async () => {
    const working = world.process();
    working.hf.handle("long", () => new Promise(() => {}));
    await working.hf.work({ queues: ["mail"], concurrency: 30 });
    const jobs = Array.from({ length: 25 }, () => ({ type: "long", payload: null, queue: "mail" }));
    await working.hf.enqueueAll(jobs);
    await world.advance(6_000);
    const [listed] = await working.hf.workers.list();
    expect(listed?.active).toBe(25);
    expect(listed?.running).toHaveLength(20);
    expect(listed?.running[0]).toMatchObject({ type: "long" });
    // Virtual time has no loop that could be late.
    expect(listed).toMatchObject({ loopDelayMs: null, memoryBytes: null });
  });

  it("very many queues are told once, not with every record", async () => {
    const { calls, sizes, link } = counted();
    const queues = Array.from({ length: 1_000 }, (_, at) => `customer-${at}`);
    const ids: string[] = [];
    for (let processes = 0; processes < 2; processes++) {
      const working = world.process({ link });
      working.hf.handle("mail", () => {});
      ids.push((await working.hf.work({ queues })).id);
    }
    const listed = await world.process().hf.workers.list();
    expect(listed.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    for (const worker of listed) expect(worker.queues).toEqual(queues);
    await world.advance(5_000);
    calls.clear();
    sizes.length = 0;
    await world.advance(10_000);
    expect(calls.get("records.swap")).toBeGreaterThanOrEqual(4);
    expect(Math.max(...sizes)).toBeLessThan(2_000);
  });

  it("a worker that is quieted from afar leases nothing until it is resumed", async () => {
    const working = world.process({ ledger: "store" });
    const ops = world.process({ ledger: "store" });
    let runs = 0;
    working.hf.handle("work", () => void (runs += 1));
    const worker = await working.hf.work({ queues: ["default"] });
    await ops.hf.workers.quiet(worker.id, { by: "ops", reason: "debugging" });
    await world.advance(6_000);
    await ops.hf.enqueue("work", null, { queue: "default" });
    await world.advance(10_000);
    expect(runs).toBe(0);
    expect((await ops.hf.workers.list())[0]).toMatchObject({ isQuiet: true });
    await ops.hf.workers.resume(worker.id);
    await world.advance(6_000);
    expect(runs).toBe(1);
    const { entries } = await ops.hf.ledger({ kind: "audit" });
    expect(entries.map(({ body }) => (body as { action: string }).action)).toEqual([
      ...["resume", "quiet"],
    ]);
    await expect(ops.hf.workers.quiet("nobody")).rejects.toThrow(WorkerNotFoundError);
  });

  it("nobody reaps before the longest lease of the fleet could be renewed", async () => {
    const patient = world.process();
    patient.hf.handle("work", () => new Promise(() => {}));
    await patient.hf.enqueue("work", null, { queue: "slow" });
    await patient.hf.work({ queues: ["slow"], leaseMs: 60_000 });
    const quick = world.process();
    quick.hf.handle("work", () => {});
    const { id } = await quick.hf.enqueue("other", null, { queue: "quick" });
    await world.store.lease({
      ...{ worker: "dead", leaseMs: 1_000, limit: 1 },
      queues: [{ queue: "quick", limit: 1 }],
    });
    let reapedAt = 0;
    // Either may be the first.
    for (const { hf } of [patient, quick]) hf.on("reaped", () => (reapedAt ||= world.time.now));
    const startedAt = world.time.now;
    await quick.hf.work({ queues: ["quick"] });
    await world.advance(30_000);
    expect(reapedAt).toBe(0);
    await world.advance(40_000);
    expect(reapedAt - startedAt).toBeGreaterThanOrEqual(60_000);
    expect(await quick.hf.job(id)).toMatchObject({ crashes: 1 });
  });

  /** Counts the calls of a process, rooms included. */
  function counted() {
    const calls = new Map<string, number>();
    /** Of what was written into records. */
    const sizes: number[] = [];
    const link = <Part extends object>(part: Part, prefix = ""): Part =>
      new Proxy(part, {
        get(target, verb) {
          const member: unknown = Reflect.get(target, verb);
          if (typeof member === "object" && member !== null) {
            return link(member, `${String(verb)}.`);
          }
          if (typeof member !== "function" || verb === "info" || verb === "onWakeup") return member;
          return (...args: unknown[]): unknown => {
            const key = prefix + String(verb);
            calls.set(key, (calls.get(key) ?? 0) + 1);
            if (key === "records.swap") sizes.push(JSON.stringify(args).length);
            return Reflect.apply(member, target, args);
          };
        },
      });
    const sum = () => [...calls.values()].reduce((all, count) => all + count, 0);
    return { calls, sizes, link: (store: Store) => link(store), sum };
  }

  it("an idle process makes at most one and a half calls a second", async () => {
    const { link, sum, calls } = counted();
    const { hf } = world.process({ link: (store) => crossing(link(store)) });
    hf.handle("work", () => {});
    await hf.work({ queues: ["default"] });
    await world.advance(15_000);
    const before = sum();
    await world.advance(120_000);
    const perSecond = (sum() - before) / 120;
    expect(perSecond, JSON.stringify(Object.fromEntries(calls))).toBeLessThanOrEqual(1.5);
  });

  it("idle workers of one process that take the same queues ask one at a time", async () => {
    const leasesOf = async (workers: number): Promise<number> => {
      const { link, calls } = counted();
      const { hf } = world.process({ link: (store) => crossing(link(store)) });
      hf.handle("work", () => {});
      for (let n = 0; n < workers; n += 1) await hf.work({ queues: ["default"] });
      await world.advance(15_000);
      const before = calls.get("lease") ?? 0;
      await world.advance(120_000);
      return (calls.get("lease") ?? 0) - before;
    };
    const ofOne = await leasesOf(1);
    const ofFive = await leasesOf(5);
    expect(ofOne).toBeGreaterThanOrEqual(24);
    expect(ofFive).toBeGreaterThanOrEqual(24);
    expect(ofFive).toBeLessThanOrEqual(2 * ofOne);
  });

  it("a job that no worker heard of is found as soon by many idle workers as by one", async () => {
    const { hf } = world.process({ link: (store) => heard(store, []) });
    hf.handle("work", () => {});
    for (let n = 0; n < 5; n += 1) await hf.work({ queues: ["default"] });
    await world.advance(30_000);
    for (const delayMs of [0, 3_000]) {
      const { id } = await hf.enqueue("work", null, { queue: "default", delayMs });
      await world.advance(delayMs + 5_500);
      expect(await hf.job(id)).toMatchObject({ status: "succeeded" });
    }
  });

  it("a delayed job starts when it is due, however far the polls have stretched", async () => {
    for (const workers of [1, 5]) {
      const { hf } = world.process({ link: crossing });
      let startedAt = 0;
      hf.handle("work", () => void (startedAt = world.time.now));
      for (let n = 0; n < workers; n += 1) await hf.work({ queues: ["default"] });
      for (let round = 0; round < 14; round += 1) {
        const delayMs = 700 + 400 * round;
        await world.advance(20_000 + 730 * round);
        const dueAt = world.time.now + delayMs;
        await hf.enqueue("work", null, { queue: "default", delayMs });
        await world.advance(delayMs + 5_500);
        expect(startedAt - dueAt, `${delayMs} ms, ${workers} workers`).toBeGreaterThanOrEqual(0);
        expect(startedAt - dueAt, `${delayMs} ms, ${workers} workers`).toBeLessThan(200);
      }
      await hf.close();
    }
  });

  it("few of many workers ask for a job that one of them will have", async () => {
    const wakes: ((wakeup: Wakeup) => void)[] = [];
    const { link, calls } = counted();
    let runs = 0;
    for (let n = 0; n < 10; n += 1) {
      const { hf } = world.process({ link: (store) => heard(link(store), wakes) });
      hf.handle("work", () => void (runs += 1));
      await hf.work({ queues: ["default"] });
    }
    // Long enough for each to know of the others.
    await world.advance(20_000);
    const before = calls.get("lease") ?? 0;
    const jobs = 40;
    const producer = world.process();
    for (let n = 0; n < jobs; n += 1) {
      const { id } = await producer.hf.enqueue("work", null, { queue: "default" });
      const lot = (n + 0.5) / jobs;
      for (const wake of wakes) wake({ queues: ["default"], finished: [], added: 1, lot });
      await world.until(() => runs === n + 1);
      for (const wake of wakes) wake({ queues: [], finished: [id] });
      await world.advance(200);
    }
    expect(runs).toBe(jobs);
    const asked = (calls.get("lease") ?? 0) - before;
    expect(asked / jobs).toBeLessThanOrEqual(4);
  });

  it("no more than a few of very many idle workers ask for a job that came alone", async () => {
    const wakes: ((wakeup: Wakeup) => void)[] = [];
    const { link, calls } = counted();
    const processes = 30;
    for (let n = 0; n < processes; n += 1) {
      const { hf } = world.process({ link: (store) => heard(link(store), wakes) });
      hf.handle("work", () => {});
      await hf.work({ queues: ["default"] });
    }
    // Long enough for each to know of the others, and for the polls to be seldom.
    await world.advance(30_000);
    const leases = () => calls.get("lease") ?? 0;
    const asked = { idle: 0, woken: 0 };
    const producer = world.process();
    for (let n = 0; n < 8; n += 1) {
      const before = leases();
      await world.advance(1_100);
      asked.idle += leases() - before;
      const { id } = await producer.hf.enqueue("work", null, { queue: "default" });
      const wakeup = { queues: ["default"], finished: [], added: 1, lot: (n + 0.5) / 8 };
      for (const wake of wakes) wake(wakeup);
      await world.advance(1_100);
      asked.woken += leases() - before;
      expect(await producer.hf.job(id)).toMatchObject({ status: "succeeded" });
      await world.advance(5_000);
    }
    // Two at once and six in reserve; who has found a job looks again.
    expect((asked.woken - 2 * asked.idle) / 8).toBeLessThanOrEqual(14);
  });

  it("a wakeup that is left to others is answered if they do not come", async () => {
    const wakes: ((wakeup: Wakeup) => void)[] = [];
    const processes = Array.from({ length: 6 }, () =>
      world.process({ link: (store) => heard(store, wakes) }),
    );
    let runs = 0;
    const stuck = signal();
    for (const { hf } of processes) {
      hf.handle("block", () => stuck.reached);
      hf.handle("work", () => void (runs += 1));
      await hf.work({ queues: ["default"], concurrency: 1 });
    }
    await world.advance(20_000);
    // All but one are busy: whatever the lot, the free one is found.
    for (let n = 0; n < 5; n += 1) {
      await processes[0]!.hf.enqueue("block", null, { queue: "default" });
    }
    await world.advance(6_000);
    for (let n = 0; n < 10; n += 1) {
      await processes[0]!.hf.enqueue("work", null, { queue: "default" });
      const wakeup = { queues: ["default"], finished: [], added: 1, lot: n / 10 };
      for (const wake of wakes) wake(wakeup);
      await world.advance(1_500);
      expect(runs).toBe(n + 1);
    }
    // Nor do jobs of other queues that finish meanwhile make it wait for its poll.
    for (let n = 0; n < 10; n += 1) {
      // Until the polls are seldom again.
      await world.advance(10_000 + 370 * n);
      await processes[0]!.hf.enqueue("work", null, { queue: "default" });
      for (const wake of wakes) wake({ queues: ["default"], finished: [], added: 1, lot: n / 10 });
      for (let step = 0; step < 24; step += 1) {
        for (const wake of wakes) wake({ queues: [], finished: ["of another queue"] });
        await world.advance(50);
      }
      expect(runs).toBe(n + 11);
    }
    stuck.reach();
  });
});
