/** What happens to a new job of a queue or group that is full: it waits, is refused, or takes a running one's place. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InvalidOptionError, QueueFullError } from "../../packages/holdfast/src/index.ts";
import { late } from "./late.ts";
import { EVERY_STORE, openWorld, signal, type World } from "./world.ts";

describe.each(EVERY_STORE)("overflow on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  /** Each runs until it is told to end. */
  async function worker() {
    const end = signal();
    const process = world.process();
    const running: unknown[] = [];
    process.hf.handle("work", async (job) => {
      running.push(job.payload);
      const aborted = new Promise<never>((_, reject) => {
        job.signal.addEventListener("abort", () => reject(job.signal.reason as Error));
      });
      await Promise.race([end.reached, aborted]);
    });
    await process.hf.work();
    const enqueue = (payload: string, group?: string) =>
      process.hf.enqueue("work", payload, { queue: "default", ...(group && { group }) });
    return { ...process, end, running, enqueue };
  }

  it("by default a job of a full queue waits", async () => {
    const { hf, end, running, enqueue } = await worker();
    await hf.queues.set("default", { maxActive: 1, overflow: "wait" });
    await enqueue("first");
    await enqueue("second");
    await world.advance(2_000);
    expect(running).toEqual(["first"]);
    end.reach();
    await world.advance(2_000);
    expect(running).toEqual(["first", "second"]);
  });

  it("a job of a full group is rejected where its queue says so, and those of others are not", async () => {
    const { hf, end, enqueue } = await worker();
    await hf.queues.set("default", { maxActivePerGroup: 1, overflow: "reject" }, { by: "ops" });
    expect(await hf.queues.get("default")).toMatchObject({ overflow: "reject" });
    await enqueue("first", "a");
    // Also while the first has not been leased yet.
    await expect(enqueue("second", "a")).rejects.toThrow(QueueFullError);
    await world.advance(2_000);
    await expect(enqueue("second", "a")).rejects.toThrow(/group "a" of queue "default"/);
    await enqueue("other", "b");
    const [answer] = await hf.enqueueAll([
      { type: "work", payload: "third", queue: "default", group: "a" },
    ]);
    expect(answer?.status).toBe("refused");
    end.reach();
    await world.advance(2_000);
    expect((await enqueue("third", "a")).status).toBe("added");
    await hf.queues.set("default", { overflow: null });
    expect((await enqueue("fourth", "a")).status).toBe("added");
  });

  it("a new job of a full queue takes the place of the one that has run longest where it says so", async () => {
    const { hf, running, enqueue } = await worker();
    await hf.queues.set("default", { maxActive: 1, overflow: "cancel-running" });
    const first = await enqueue("first");
    await world.advance(2_000);
    const second = await enqueue("second");
    await world.advance(8_000);
    expect(running).toEqual(["first", "second"]);
    expect(await hf.job(first.id)).toMatchObject({ status: "cancelled" });
    expect(await hf.job(second.id)).toMatchObject({ status: "processing" });
  });

  it("a process hears of it within seconds of its own enqueues, and another mode is refused", async () => {
    const { hf, enqueue } = await worker();
    const ops = world.process();
    await enqueue("early", "x");
    await ops.hf.queues.set("default", { maxActivePerGroup: 1, overflow: "reject" });
    await world.advance(6_000);
    await enqueue("looks", "y");
    await world.advance(1_000);
    await expect(enqueue("late", "x")).rejects.toThrow(QueueFullError);
    const set = hf.queues.set("default", { overflow: "drop" as "wait" });
    await expect(set).rejects.toThrow(InvalidOptionError);
  });

  it("the parts of a queue overflow as it does, unless one was set itself", async () => {
    const { hf } = world.process();
    const set = { shards: 2, maxActivePerGroup: 1, overflow: "reject" } as const;
    await hf.queues.set("sim", set);
    const enqueue = (group: string) => hf.enqueue("work", null, { queue: "sim", group });
    const { queue } = await enqueue("a");
    await expect(enqueue("a")).rejects.toThrow(`queue "${queue}"`);
    await hf.queues.set(queue, { overflow: "cancel-running" });
    expect((await enqueue("a")).status).toBe("added");
  });

  it("a look that is answered late does not undo what was set meanwhile", async () => {
    const slow = late("holdfast/overflow");
    const { hf } = world.process({ link: slow.link });
    const enqueue = () => hf.enqueue("work", null, { queue: "q", group: "a" });
    slow.hold();
    await enqueue();
    await slow.asked;
    await hf.queues.set("q", { maxActivePerGroup: 1, overflow: "reject" });
    slow.release();
    await world.time.settle();
    await expect(enqueue()).rejects.toThrow(QueueFullError);
  });
});
