import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  ClosedError,
  Holdfast,
  InlineRefusedError,
  PermanentError,
  StoreUnavailableError,
  UnsupportedError,
  type Store,
} from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { outage } from "./outage.ts";
import { openWorld, signal, STORES, type World } from "./world.ts";

describe.each(STORES)("a producer of jobs on %s", (name) => {
  let world: World;
  /** Another store, for the ledger or the spool. */
  let other: Store;
  beforeEach(async () => {
    world = await openWorld(name);
    other = memoryStore({ now: () => world.time.now });
    await other.open();
  });
  afterEach(() => world.close());

  /** The data of `other`, for one process: closing it closes nothing. */
  function ofOneProcess(): Store {
    return { ...other, close: async () => {} };
  }

  describe("that runs jobs inline", () => {
    it("a handler runs in its caller while the store is surely away", async () => {
      const gap = outage();
      const { hf } = world.process({ link: gap.link, resilient: "inline", ledger: other });
      const heard: string[] = [];
      for (const event of ["started", "failed", "succeeded"] as const) {
        hf.on(event, ({ attempt }) => heard.push(`${event} ${attempt}`));
      }
      const times: number[] = [];
      const work = hf.define({
        type: "work",
        retry: { maxAttempts: 3, baseMs: 1_000, jitter: 0 },
        async run(job) {
          times.push(world.time.now);
          await job.step("once", () => heard.push("step"));
          if (job.attempt === 1) throw new Error("not yet");
          job.log("done");
          return job.attempt;
        },
      });
      expect(await work.enqueue("there")).toMatchObject({ status: "added" });
      gap.mode = "away";
      const enqueuing = work.enqueue("away");
      await world.advance(2_000);
      const receipt = await enqueuing;
      expect(receipt).toMatchObject({
        status: "ran",
        jobStatus: "succeeded",
        outcome: { status: "succeeded", result: 2, job: { attempts: 2, logs: [{ text: "done" }] } },
      });
      expect(times[1]! - times[0]!).toBe(1_000);
      expect(heard).toEqual(["started 1", "step", "failed 1", "started 2", "succeeded 2"]);
      expect(await hf.waitFor(receipt)).toBe(receipt.outcome);
      await world.advance(100);
      const { entries } = await other.ledger.read({ kind: "failure" }, { limit: 10 });
      expect(entries).toMatchObject([{ jobId: receipt.id, state: "retrying" }]);
      gap.mode = "none";
      expect((await hf.jobs()).jobs).toMatchObject([{ payload: "there" }]);
    });

    it("a job whose insert may have happened never runs in its caller", async () => {
      const gap = outage();
      const { hf } = world.process({ link: gap.link, resilient: "inline" });
      let ran = 0;
      const work = hf.define({ type: "work", run: () => (ran += 1) });
      await work.enqueue(1);
      gap.mode = "deaf";
      const enqueuing = work.enqueue(2).catch((error: unknown) => error);
      await world.advance(500);
      // The first try is in doubt, so a later sure no changes nothing.
      gap.mode = "away";
      await world.advance(10_000);
      const error = await enqueuing;
      expect(error).toBeInstanceOf(StoreUnavailableError);
      expect(error).toMatchObject({ mayHaveHappened: true });
      expect(ran).toBe(0);
    });

    it("a job that is due later, or has no handler here, is refused while the store is away", async () => {
      const gap = outage();
      const { hf } = world.process({ link: gap.link, resilient: "inline" });
      const work = hf.define({ type: "work", run: (job) => job.payload });
      gap.mode = "away";
      await expect(work.enqueue(1, { delayMs: 1 })).rejects.toThrow(InlineRefusedError);
      const runAt = new Date(world.time.now + 1);
      await expect(work.enqueue(1, { runAt })).rejects.toThrow(/due later/);
      await expect(hf.enqueue("other", 1, { queue: "q" })).rejects.toThrow(/no handler/);
      const answers = await hf.enqueueAll([work.of(1), work.of(2, { delayMs: 5 }), work.of(3)]);
      expect(answers.map(({ status }) => status)).toEqual(["ran", "refused", "ran"]);
    });

    it("a job that dies in its caller says so in its receipt", async () => {
      const hf = new Holdfast({ resilient: "inline", runtime: world.time.runtime() });
      const work = hf.define({
        type: "work",
        run() {
          throw new PermanentError("never");
        },
      });
      const enqueuing = work.enqueue(null);
      await world.advance(10);
      expect(await enqueuing).toMatchObject({
        status: "ran",
        jobStatus: "dead",
        outcome: { status: "dead", reason: "permanent", error: { message: "never" } },
      });
      await hf.close();
    });

    it("without a store every job runs in its caller, and what it spawns", async () => {
      const hf = new Holdfast({ resilient: "inline", runtime: world.time.runtime() });
      const ran: string[] = [];
      hf.define({ type: "child", run: (job) => ran.push(`child ${String(job.payload)}`) });
      const work = hf.define({
        type: "work",
        timeoutMs: 1_000,
        async run(job) {
          ran.push(`${job.attempt} ${String(job.checkpoint)}`);
          if (job.attempt === 2) {
            await job.spawn("child", 1);
            return "done";
          }
          await job.save("half");
          // Waits for its signal, which the timeout aborts.
          await new Promise((_, reject) => {
            job.signal.addEventListener("abort", () => reject(job.signal.reason as Error));
          });
          return "never";
        },
      });
      const enqueuing = work.enqueue(null);
      await world.advance(5_000);
      expect(await enqueuing).toMatchObject({ status: "ran", outcome: { result: "done" } });
      expect(ran).toEqual(["1 undefined", "2 half", "child 1"]);
      await expect(hf.jobs()).rejects.toThrow(UnsupportedError);
      await expect(hf.work()).rejects.toThrow(UnsupportedError);
      const later = work.enqueue(null, { delayMs: 1 });
      const refused = expect(later).rejects.toThrow(UnsupportedError);
      await world.advance(10);
      await refused;
      await hf.close();
    });

    it("close ends a job that runs in its caller, which hears that it has not ended", async () => {
      const hf = new Holdfast({ resilient: "inline", runtime: world.time.runtime() });
      const started = signal();
      const work = hf.define({
        type: "work",
        run(job) {
          started.reach();
          return new Promise((_, reject) => {
            job.signal.addEventListener("abort", () => reject(job.signal.reason as Error));
          });
        },
      });
      const enqueuing = expect(work.enqueue(null)).rejects.toThrow(ClosedError);
      await world.until(started.isReached);
      const closing = hf.close({ graceMs: 1_000 });
      await world.advance(1_500);
      await enqueuing;
      await closing;
    });
  });

  describe("that spools", () => {
    it("what was spooled is delivered once each, in order, before anything newer", async () => {
      const gap = outage();
      const { hf } = world.process({ link: gap.link, resilient: { spool: other } });
      const ran: unknown[] = [];
      hf.define({ type: "work", run: (job) => void ran.push(job.payload) });
      const receipts = [await hf.enqueue("work", 0)];
      gap.mode = "away";
      for (let n = 1; n <= 250; n += 1) receipts.push(await hf.enqueue("work", n));
      expect(receipts.map(({ status }) => status)).toEqual([
        "added",
        ...Array(250).fill("spooled"),
      ]);
      expect(hf.health()).toMatchObject({ ok: false, spooled: 250 });
      // Back, and not delivered yet: a newer one may not overtake.
      gap.mode = "none";
      expect(await hf.enqueue("work", 251)).toMatchObject({ status: "spooled" });
      await world.advance(2_000);
      expect(hf.health()).toMatchObject({ ok: true, spooled: 0 });
      expect(await hf.enqueue("work", 252)).toMatchObject({ status: "added" });
      await hf.work({ concurrency: 1 });
      expect(await hf.waitFor(receipts[250]!)).toMatchObject({ status: "succeeded" });
      await world.until(() => ran.length >= 253);
      expect(ran).toEqual(Array.from({ length: 253 }, (_, n) => n));
    });

    it("a spool outlives its process", async () => {
      const gap = outage();
      gap.mode = "away";
      const first = world.process({ link: gap.link, resilient: { spool: ofOneProcess() } });
      const { id } = await first.hf.enqueue("work", 1, { queue: "q", delayMs: 5_000 });
      first.kill();
      await world.advance(2_000);
      const second = world.process({ resilient: { spool: ofOneProcess() } });
      // Whatever it does first.
      await second.hf.counts();
      await world.until(async () => (await second.hf.job(id)) !== null);
      const job = await second.hf.job(id);
      // The delay counts from the enqueue.
      expect(job?.runAt.getTime()).toBe(world.time.now + 3_000);
      expect(second.hf.health()).toMatchObject({ spooled: 0 });
    });

    it("an insert in doubt is spooled under its own id, and makes one job", async () => {
      const gap = outage();
      const { hf } = world.process({ link: gap.link, resilient: { spool: other } });
      await hf.enqueue("work", 0, { queue: "q" });
      gap.mode = "deaf";
      const enqueuing = hf.enqueue("work", 1, { queue: "q" });
      await world.advance(5_000);
      const receipt = await enqueuing;
      expect(receipt).toMatchObject({ status: "spooled" });
      gap.mode = "none";
      await world.advance(2_000);
      expect((await hf.jobs()).jobs.map(({ payload }) => payload)).toEqual([1, 0]);
      expect(hf.health()).toMatchObject({ spooled: 0 });
    });

    it("waitFor waits for a spooled job, which no store has yet", async () => {
      const gap = outage();
      const { hf } = world.process({ link: gap.link, resilient: { spool: other } });
      hf.define({ type: "work", run: () => "done" });
      await hf.counts();
      gap.mode = "away";
      const receipt = await hf.enqueue("work", null);
      gap.mode = "none";
      const waiting = hf.waitFor(receipt, { timeoutMs: 10_000 });
      await world.advance(2_000);
      await hf.work();
      expect(await waiting).toMatchObject({ status: "succeeded", result: "done" });
    });
  });

  it("an enqueue throws while the store is away, unless it was told what else to do", async () => {
    const gap = outage();
    gap.mode = "away";
    const { hf } = world.process({ link: gap.link });
    hf.define({ type: "work", run: () => {} });
    await expect(hf.enqueue("work", null)).rejects.toThrow(StoreUnavailableError);
  });

  it("health tells when each worker last got an answer", async () => {
    const gap = outage();
    const { hf } = world.process({ link: gap.link });
    const started = signal();
    const end = signal();
    hf.define({
      type: "work",
      async run() {
        started.reach();
        await end.reached;
      },
    });
    expect(hf.health()).toMatchObject({ ok: true, lastLeaseAt: null, workers: [] });
    const worker = await hf.work({ concurrency: 1 });
    const leasedAt = world.time.now;
    expect(hf.health()).toMatchObject({
      ok: true,
      lastLeaseAt: new Date(leasedAt),
      workers: [{ id: worker.id, ok: true, running: 0 }],
    });
    // Every slot taken: it asks for nothing, and its renewals tell that the store is there.
    await hf.enqueue("work", null);
    await world.until(started.isReached);
    await world.advance(30_000);
    expect(hf.health()).toMatchObject({ ok: true, workers: [{ running: 1 }] });
    expect(hf.health().lastCallAt!.getTime()).toBeGreaterThan(world.time.now - 5_000);
    end.reach();
    await world.advance(1_000);
    gap.mode = "away";
    await world.advance(5_000);
    // As up as ever, and claiming nothing.
    await world.advance(6_000);
    expect(hf.health()).toMatchObject({ ok: false });
    expect(hf.health().lastLeaseAt!.getTime()).toBeLessThan(world.time.now - 10_000);
    gap.mode = "none";
    await world.advance(2_000);
    expect(hf.health()).toMatchObject({ ok: true });
    await worker.stop();
    expect(hf.health()).toMatchObject({ ok: true, workers: [] });
  });
});
