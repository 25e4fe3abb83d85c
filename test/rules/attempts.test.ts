import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { outage } from "./outage.ts";
import { openWorld, signal, STORES, type World } from "./world.ts";

describe.each(STORES)("attempts and crashes on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  /** Its handler never ends: only a kill frees it. */
  function hang() {
    return new Promise<void>(() => {});
  }

  it("a start that is taken back spends no attempt", async () => {
    const { hf } = world.process();
    let snoozes = 0;
    hf.define({
      type: "poll",
      run(job) {
        snoozes += 1;
        if (snoozes < 4) return job.snooze(1_000);
        return job.attempt;
      },
    });
    const receipt = await hf.enqueue("poll", null, { maxAttempts: 1 });
    await hf.work();
    await world.until(() => snoozes === 1);
    await world.advance(3_500);
    expect(await hf.waitFor(receipt)).toMatchObject({ status: "succeeded", result: 1 });
    expect(await hf.job(receipt.id)).toMatchObject({ attempts: 1, history: [] });
  });

  it("a stop hands running jobs back without spending their attempt", async () => {
    const first = world.process();
    const started = signal();
    first.hf.define({
      type: "long",
      run(job) {
        started.reach();
        return new Promise((_, reject) => {
          job.signal.addEventListener("abort", () => reject(job.signal.reason));
        });
      },
    });
    const receipt = await first.hf.enqueue("long", null);
    const worker = await first.hf.work();
    await started.reached;
    const stopping = worker.stop({ graceMs: 1_000 });
    await world.advance(1_100);
    await stopping;
    expect(await first.hf.job(receipt.id)).toMatchObject({ status: "queued", attempts: 0 });
  });

  it("a stop hands the buffer back without spending an attempt", async () => {
    const { hf } = world.process();
    const gate = signal();
    let quick = true;
    hf.define({ type: "work", run: () => (quick ? undefined : gate.reached) });
    const worker = await hf.work({ concurrency: 1 });
    await hf.enqueueAll(Array.from({ length: 20 }, () => ({ type: "work", payload: null })));
    await world.until(async () => (await hf.counts())["default"]?.succeeded === 20);
    // Twenty quick ones taught it to buffer; now one blocks the only slot.
    quick = false;
    await hf.enqueueAll(Array.from({ length: 10 }, () => ({ type: "work", payload: null })));
    await world.until(async () => ((await hf.counts())["default"]?.processing ?? 0) > 1);
    const stopping = worker.stop({ graceMs: 1_000 });
    gate.reach();
    await stopping;
    const { jobs } = await hf.jobs({ status: "queued" });
    expect(jobs.length).toBeGreaterThanOrEqual(9);
    expect(jobs.every(({ attempts }) => attempts === 0)).toBe(true);
  });

  it("a stop without a store says once what it could not hand back", async () => {
    const cut = outage();
    const { hf, said } = world.process({ link: cut.link });
    let started = 0;
    const gate = signal();
    hf.define({ type: "work", run: () => ((started += 1), gate.reached) });
    await hf.enqueueAll(Array.from({ length: 20 }, () => ({ type: "work", payload: null })));
    const worker = await hf.work({ concurrency: 20 });
    await world.until(() => started === 20);
    cut.mode = "away";
    gate.reach();
    const stopping = worker.stop({ graceMs: 1_000 });
    await world.advance(10_000);
    await stopping;
    await world.advance(2_000);
    expect(said.filter((line) => /lease/.test(line))).toEqual([
      "the outcomes of 20 jobs did not reach the store; their leases will run out",
    ]);
    cut.mode = "none";
  });

  it("attempts never exceed maxAttempts", async () => {
    const { hf } = world.process();
    let runs = 0;
    hf.define({
      type: "fails",
      retry: { maxAttempts: 3 },
      run() {
        runs += 1;
        throw new Error("no");
      },
    });
    const receipt = await hf.enqueue("fails", null);
    await hf.work();
    await world.advance(10_000);
    expect(runs).toBe(3);
    expect(await hf.job(receipt.id)).toMatchObject({
      status: "dead",
      reason: "failed",
      attempts: 3,
      history: [{ attempt: 1 }, { attempt: 2 }, { attempt: 3 }],
    });
  });

  it("a lease that runs out is a crash and spends the attempt", async () => {
    const first = world.process();
    const started = signal();
    first.hf.handle("work", () => {
      started.reach();
      return hang();
    });
    const { id } = await first.hf.enqueue("work", null);
    await first.hf.work();
    await started.reached;
    first.kill();

    const second = world.process();
    const ran = signal();
    second.hf.handle("work", (job) => {
      ran.reach();
      return { attempt: job.attempt, crashes: job.crashes };
    });
    await second.hf.work();
    await world.advance(12_000);
    expect(ran.isReached()).toBe(true);
    expect(await second.hf.job(id)).toMatchObject({
      status: "succeeded",
      attempts: 2,
      crashes: 1,
      result: { attempt: 2, crashes: 1 },
      history: [
        { attempt: 1, outcome: "crashed" },
        { attempt: 2, outcome: "succeeded" },
      ],
    });
  });

  it("three crashes make a job poison", async () => {
    const producer = world.process();
    const { id } = await producer.hf.enqueue("killer", null, { queue: "default" });
    let kills = 0;
    for (let generation = 0; generation < 4; generation += 1) {
      const doomed = world.process();
      doomed.hf.handle("killer", () => {
        kills += 1;
        doomed.kill();
        return hang();
      });
      await doomed.hf.work();
      await world.advance(12_000);
    }
    expect(kills).toBe(3);
    expect(await producer.hf.job(id)).toMatchObject({
      status: "dead",
      reason: "poison",
      crashes: 3,
      attempts: 3,
      history: [{ outcome: "crashed" }, { outcome: "crashed" }, { outcome: "crashed" }],
    });
  });

  it("a job with one attempt never runs twice", async () => {
    const first = world.process();
    let runs = 0;
    first.hf.handle("once", () => {
      runs += 1;
      first.kill();
      return hang();
    });
    const { id } = await first.hf.enqueue("once", null, { maxAttempts: 1 });
    await first.hf.work();
    await world.until(() => runs === 1);
    const second = world.process();
    second.hf.handle("once", () => void (runs += 1));
    await second.hf.work();
    await world.advance(12_000);
    expect(runs).toBe(1);
    expect(await second.hf.job(id)).toMatchObject({
      status: "dead",
      reason: "crashed",
      attempts: 1,
      crashes: 1,
    });
  });

  it("only the culprit becomes poison", async () => {
    const producer = world.process();
    const innocents = await producer.hf.enqueueAll(
      Array.from({ length: 9 }, () => ({ type: "slow", payload: null, queue: "default" })),
    );
    const culprit = await producer.hf.enqueue("killer", null, { queue: "default" });
    for (let generation = 0; generation < 30; generation += 1) {
      const doomed = world.process();
      doomed.hf.handle(
        "slow",
        () => new Promise((resolve) => world.time.timer(100, () => resolve(1))),
      );
      doomed.hf.handle("killer", () => {
        doomed.kill();
        return hang();
      });
      await doomed.hf.work();
      await world.advance(13_000);
      const counts = (await producer.hf.counts())["default"];
      if (counts && counts.ready + counts.delayed + counts.processing === 0) break;
    }
    expect(await producer.hf.job(culprit.id)).toMatchObject({ status: "dead", reason: "poison" });
    for (const { id } of innocents as { id: string }[]) {
      expect(await producer.hf.job(id)).toMatchObject({ status: "succeeded" });
    }
  });
});
