/** Statistics: what is counted, by whom it is found, and what a killed or idle process costs. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { InvalidOptionError, StoreUnavailableError } from "../../packages/holdfast/src/index.ts";
import { PermanentError, type Store } from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { EVERY_STORE, openWorld, type Process, type ProcessOptions, type World } from "./world.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const STATS = "holdfast/stats/";

describe.each(EVERY_STORE)("statistics on %s", { timeout: 120_000 }, (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  async function worker(options: ProcessOptions = {}): Promise<Process> {
    const process = world.process(options);
    process.hf.handle("mail.send", () => {});
    process.hf.handle("mail.fail", () => {
      throw new PermanentError("no such mailbox");
    });
    process.hf.handle("mail.flaky", ({ attempt }) => {
      if (attempt === 1) throw new Error("not now");
    });
    process.hf.handle(
      "slow",
      () => new Promise((resolve) => world.time.timer(250, () => resolve(null))),
    );
    await process.hf.work({ queues: ["mail", "slow"] });
    return process;
  }

  const enqueue = (process: Process, type: string, count = 1, queue = "mail") =>
    process.hf.enqueueAll(Array.from({ length: count }, () => ({ type, payload: null, queue })));

  it("every attempt that ends is counted by queue and type", async () => {
    const one = await worker();
    await enqueue(one, "mail.send", 3);
    await enqueue(one, "mail.fail", 2);
    await enqueue(one, "mail.flaky");
    await enqueue(one, "slow", 1, "slow");
    await world.advance(3_000);
    const all = await one.hf.stats();
    expect(all).toMatchObject({
      ...{ source: "store", finished: { succeeded: 5, dead: 2, cancelled: 0 }, retried: 1 },
      ...{ failedLastHour: 3, oldestReadyMs: null },
      topFailing: [
        { type: "mail.fail", failed: 2, dead: 2 },
        { type: "mail.flaky", failed: 1, dead: 0 },
      ],
      counts: { ready: 0, processing: 0, succeeded: 5, dead: 2 },
    });
    const mail = await one.hf.stats({ queue: "mail", type: "mail.send" });
    expect(mail.finished).toEqual({ succeeded: 3, dead: 0, cancelled: 0 });
    expect(mail).toMatchObject({ failedLastHour: 0, topFailing: [] });
    const slow = await one.hf.stats({ queue: "slow", lastMs: 15 * MINUTE_MS });
    expect(slow.runMs).toMatchObject({ count: 1, avg: 250, max: 250 });
    expect(Math.abs(slow.runMs.p95 - 250)).toBeLessThan(250 * 0.045);
    expect(slow.counts).toMatchObject({ succeeded: 1, dead: 0 });
    expect(slow.series).toHaveLength(16);
    expect(slow.series.reduce((sum, point) => sum + point.succeeded, 0)).toBe(1);
    expect((await one.hf.stats({ queue: "nowhere" })).finished.succeeded).toBe(0);
  });

  it("waiting is measured from when a job was due, and the longest waiting one is told", async () => {
    const producer = world.process();
    await enqueue(producer, "mail.send", 2);
    await producer.hf.enqueue("mail.send", null, { queue: "mail", delayMs: 4_000 });
    await world.advance(5_000);
    expect(await producer.hf.stats()).toMatchObject({
      ...{ counts: { ready: 3, delayed: 0 }, oldestReadyMs: 5_000 },
    });
    const { hf } = await worker();
    await world.advance(1_000);
    const { waitMs } = await hf.stats();
    expect(waitMs.count).toBe(3);
    expect(waitMs.max).toBeGreaterThanOrEqual(5_000);
    expect(waitMs.p50).toBeGreaterThan(4_500);
    expect(waitMs.avg).toBeGreaterThan((5_000 + 5_000 + 1_000) / 3 - 1);
  });

  it("a job that is refused before it starts is counted as dead", async () => {
    const { hf } = world.process();
    hf.define({
      ...{ type: "strict", queue: "mail", run: () => {} },
      payload: z.literal(1),
    });
    const other = world.process();
    await other.hf.enqueue("strict", 2, { queue: "mail" });
    await hf.work({ queues: ["mail"] });
    await world.advance(1_000);
    expect(await hf.stats({ type: "strict" })).toMatchObject({ finished: { dead: 1 } });
  });

  it("what a process counted is found by all after two seconds, and outlives it if it is killed", async () => {
    const one = await worker();
    const ops = world.process();
    await enqueue(one, "mail.send", 4);
    await world.until(async () => (await ops.hf.counts())["mail"]?.succeeded === 4);
    await world.advance(2_000);
    one.kill();
    expect((await ops.hf.stats()).finished.succeeded).toBe(4);
  });

  it("what a process counted last is stored when it closes", async () => {
    const one = await worker();
    const ops = world.process();
    await enqueue(one, "mail.send", 4);
    await world.until(async () => (await ops.hf.counts())["mail"]?.succeeded === 4);
    await one.hf.close();
    expect((await ops.hf.stats()).finished.succeeded).toBe(4);
  });

  it("a fleet's finished minutes become one record each, and no figure changes by it", async () => {
    const fleet = [await worker(), await worker()];
    const ops = world.process();
    // In the midst of a minute: a settle takes a moment, and by so much is a process late for the next one.
    await world.advance(MINUTE_MS / 2);
    for (let minute = 0; minute < 2; minute += 1) {
      for (const process of fleet) await enqueue(process, "mail.send", 5);
      await world.advance(MINUTE_MS);
    }
    await world.advance(100_000);
    const { records } = await world.store.records.scan({ prefix: STATS, limit: 200 });
    const kinds = records.map(({ key }) => key.slice(STATS.length).split("/")[0]);
    expect(kinds.filter((kind) => kind === "live")).toEqual([]);
    expect(kinds.filter((kind) => kind === "minute").length).toBeGreaterThanOrEqual(2);
    const { finished, series, waitMs } = await ops.hf.stats();
    expect(finished.succeeded).toBe(20);
    expect(waitMs.count).toBe(20);
    expect(series.reduce((sum, point) => sum + point.succeeded, 0)).toBe(20);
    const day = await ops.hf.stats({ lastMs: 24 * HOUR_MS });
    expect(day.finished.succeeded).toBe(20);
    expect(day.series).toHaveLength(25);
  });

  it("a killed process's share is merged by the others, and a process that was cut off adds nothing twice", async () => {
    let isCut = false;
    const cut = (store: Store): Store => ({
      ...store,
      records: {
        ...store.records,
        async swap(swaps) {
          const results = await store.records.swap(swaps);
          const isLost = isCut && swaps.some(({ key }) => key.startsWith(STATS));
          if (isLost) throw new StoreUnavailableError("lost", { mayHaveHappened: true });
          return results;
        },
      },
    });
    const [killed, cutOff] = [await worker(), await worker({ link: cut })];
    await enqueue(killed, "mail.send", 20);
    await world.advance(4_000);
    expect((await killed.hf.stats()).finished.succeeded).toBe(20);
    killed.kill();
    // Its writes arrive and it never hears of it, until long after the minute was merged.
    isCut = true;
    await enqueue(cutOff, "mail.send", 5);
    await world.advance(4_000);
    const other = await worker();
    await enqueue(other, "mail.send", 10);
    await world.advance(105_000);
    isCut = false;
    // It stores once more after some seconds, and what it stored is merged 95 s later at the latest.
    await world.advance(110_000);
    expect((await other.hf.stats()).finished.succeeded).toBe(35);
    const { records } = await world.store.records.scan({ prefix: `${STATS}live/`, limit: 200 });
    expect(records).toEqual([]);
  });

  it("a process that runs nothing makes no call for statistics", async () => {
    const calls: string[] = [];
    const noting = (store: Store): Store => ({
      ...store,
      records: {
        read: (keys) => (calls.push(...keys), store.records.read(keys)),
        swap: (swaps) => (calls.push(...swaps.map(({ key }) => key)), store.records.swap(swaps)),
        scan: (request) => (calls.push(request.prefix), store.records.scan(request)),
      },
    });
    const one = await worker({ link: noting });
    await world.advance(MINUTE_MS);
    expect(calls.filter((key) => key.startsWith(STATS))).toEqual([]);
    await enqueue(one, "mail.send");
    await world.advance(10_000);
    expect(calls.filter((key) => key.startsWith(STATS))).toHaveLength(1);
  });

  it("while the store is away the ledger elsewhere answers, and says so", async () => {
    let isAway = false;
    const ledger = memoryStore({ now: () => world.time.now });
    const away = (store: Store): Store =>
      new Proxy(store, {
        get(target, verb) {
          const refuse = async () => {
            throw new StoreUnavailableError("away", { mayHaveHappened: false });
          };
          if (isAway && ["now", "count"].includes(String(verb))) return refuse;
          return Reflect.get(target, verb) as unknown;
        },
      });
    const one = await worker({ ledger, link: away });
    await enqueue(one, "mail.fail", 3);
    await enqueue(one, "mail.flaky", 1);
    await world.advance(5_000);
    expect(await one.hf.stats()).toMatchObject({ source: "store", failedLastHour: 4 });
    isAway = true;
    expect(await one.hf.stats()).toMatchObject({
      ...{ source: "ledger", failedLastHour: 4, retried: 1, oldestReadyMs: null },
      finished: { succeeded: 0, dead: 3, cancelled: 0 },
      topFailing: [
        { type: "mail.fail", failed: 3, dead: 3 },
        { type: "mail.flaky", failed: 1, dead: 0 },
      ],
      counts: { ready: 0, succeeded: 0 },
    });
    isAway = false;
    const here = await worker({ link: away });
    isAway = true;
    await expect(here.hf.stats()).rejects.toThrow(StoreUnavailableError);
    isAway = false;
  });

  it("without a ledger failures of the last hour are those that were counted", async () => {
    const { hf, ...rest } = await worker({ ledger: false });
    await enqueue({ hf, ...rest }, "mail.fail", 2);
    await world.advance(1_000);
    expect(await hf.stats({ lastMs: MINUTE_MS })).toMatchObject({ failedLastHour: 2 });
    const off = await worker({ stats: false, ledger: false });
    await hf.close();
    await enqueue(off, "mail.fail", 2);
    await world.advance(3_000);
    expect(await off.hf.stats()).toMatchObject({ finished: { dead: 2 }, counts: { dead: 4 } });
  });

  it("a question that is none is refused", async () => {
    const { hf } = world.process();
    const refused = (query: unknown, message: RegExp) => {
      const asked = hf.stats(query as object);
      return expect(asked).rejects.toThrow(
        expect.objectContaining({ message: expect.stringMatching(message) as string }),
      );
    };
    await refused({ last: 3 }, /lastMs/);
    await refused({ lastMs: 10 }, /60000/);
    await refused({ lastMs: 9 * 24 * HOUR_MS }, /691200000/);
    await refused({ queue: "" }, /queue/);
    await expect(hf.stats(null as never)).rejects.toThrow(InvalidOptionError);
  });

  it("health and monitor of older systems come out of it without a scan", async () => {
    const { hf, ...rest } = await worker();
    const one = { hf, ...rest };
    await enqueue(one, "mail.send", 6);
    await enqueue(one, "mail.fail", 2);
    hf.define({
      ...{ type: "crm.sync", queue: "mail", retry: { maxAttempts: 5, baseMs: 60_000, jitter: 0 } },
      run() {
        throw new Error("the other side is down");
      },
    });
    await hf.enqueue("crm.sync", null);
    await world.advance(1_000);
    await hf.pause("mail");
    await enqueue(one, "mail.send", 1);
    await world.advance(7_000);

    // System 4: counts by status, finished in 24 h, the newest failures, time, lag.
    const day = await hf.stats({ queue: "mail", lastMs: 24 * HOUR_MS });
    const { ready, delayed, retrying, processing, dead } = day.counts;
    expect({ pending: ready + delayed - retrying, processing, failed: retrying, dead }).toEqual({
      ...{ pending: 1, processing: 0, failed: 1, dead: 2 },
    });
    expect(day.finished.succeeded).toBe(6);
    expect(day.oldestReadyMs).toBeGreaterThanOrEqual(7_000);
    const { failures } = await hf.failures.list({ queue: "mail", final: false, limit: 20 });
    const [newest] = failures;
    expect(newest).toMatchObject({
      ...{ type: "crm.sync", attempt: 1, maxAttempts: 5, message: "the other side is down" },
    });
    const nextRetryAt = newest!.failedAt.getTime() + newest!.retryInMs!;
    expect(nextRetryAt).toBeGreaterThan(world.time.now);
    const [waiting] = (
      await hf.jobs({
        ...{ status: "queued", queue: "mail", retrying: false, order: "oldest", limit: 1 },
      })
    ).jobs;
    expect(world.time.now - waiting!.runAt.getTime()).toBeGreaterThanOrEqual(7_000);

    // System 1: the fields of its health.
    expect(day.failedLastHour).toBe(3);
    expect(
      await hf.failures.count({ queue: "mail", from: new Date(day.at.getTime() - 24 * HOUR_MS) }),
    ).toBe(3);
    expect(day.topFailing.map(({ type, failed }) => ({ jobName: type, count: failed }))).toEqual([
      { jobName: "mail.fail", count: 2 },
      { jobName: "crm.sync", count: 1 },
    ]);
  });
});
