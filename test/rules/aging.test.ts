/** Priority that ages: waiting counts, so that a low priority is late, never lost. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InvalidOptionError, type Store } from "../../packages/holdfast/src/index.ts";
import { EVERY_STORE, openWorld, type Process, type World } from "./world.ts";

const QUEUE = "mail";
const [URGENT, LATE] = [{ priority: 10 }, { priority: 13 }];

describe.each(EVERY_STORE)("priority that ages on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  /** Enqueues in front of a queue that is held, so that the order is seen once it is let go. */
  async function held(process: Process = world.process()) {
    const { hf } = process;
    await hf.pause(QUEUE);
    const enqueue = (payload: string, options: { readonly priority: number }) =>
      hf.enqueue("work", payload, { queue: QUEUE, ...options });
    return { ...process, enqueue };
  }

  /** The payloads in the order in which one worker runs them. */
  async function order(): Promise<readonly unknown[]> {
    const { hf } = world.process();
    const ran: unknown[] = [];
    hf.handle("work", (job) => void ran.push(job.payload));
    await hf.work({ queues: [QUEUE], concurrency: 1 });
    await hf.resume(QUEUE);
    await world.advance(5_000);
    await hf.close();
    return ran;
  }

  it("a job of low priority goes before urgent ones that came long after it, not before the others", async () => {
    const { hf, enqueue } = await held();
    await hf.queues.set(QUEUE, { agingMs: 1_000 }, { by: "ops" });
    expect(await hf.queues.get(QUEUE)).toMatchObject({ agingMs: 1_000 });
    await enqueue("late", LATE);
    await world.advance(2_000);
    await enqueue("urgent, in time", URGENT);
    await world.advance(2_500);
    await enqueue("urgent, too late", URGENT);
    expect(await order()).toEqual(["urgent, in time", "late", "urgent, too late"]);
  });

  it("without the setting a low priority waits for as long as urgent jobs come", async () => {
    const { enqueue } = await held();
    await enqueue("late", LATE);
    await world.advance(20_000);
    await enqueue("urgent", URGENT);
    expect(await order()).toEqual(["urgent", "late"]);
  });

  it("what a caller gave as priority is what is shown, and its own metadata too", async () => {
    const { hf } = await held();
    await hf.queues.set(QUEUE, { agingMs: 1_000 });
    await world.advance(20_000);
    const options = { queue: QUEUE, priority: 13, meta: { source: "web" } };
    const { id } = await hf.enqueue("work", "late", options);
    expect(await hf.job(id)).toMatchObject({ priority: 13, meta: { source: "web" } });
    const { jobs } = await hf.jobs({ queue: QUEUE });
    expect(jobs.map(({ priority, meta }) => [priority, meta])).toEqual([[13, { source: "web" }]]);
    const plain = await hf.enqueue("work", "late", { queue: QUEUE });
    expect(await hf.job(plain.id)).toMatchObject({ priority: 100, meta: null });
  });

  it("a job that is tried again keeps the place of its age", async () => {
    const { hf, enqueue } = await held();
    await hf.queues.set(QUEUE, { agingMs: 1_000 });
    await enqueue("late", LATE);
    const first = world.process();
    first.hf.handle("work", async (job) => {
      await hf.pause(QUEUE);
      return job.snooze(0);
    });
    await first.hf.work({ queues: [QUEUE], concurrency: 1 });
    await hf.resume(QUEUE);
    await world.advance(10_000);
    await first.hf.close();
    await enqueue("urgent", URGENT);
    expect(await order()).toEqual(["late", "urgent"]);
  });

  it("jobs that a handler spawns age as those that are enqueued", async () => {
    const { hf, enqueue } = await held();
    await hf.queues.set(QUEUE, { agingMs: 1_000 });
    await enqueue("late", LATE);
    await world.advance(10_000);
    const parent = world.process();
    parent.hf.handle("parent", async (job) => {
      await job.spawn("work", "spawned", { queue: QUEUE, ...URGENT });
    });
    await parent.hf.work({ queues: ["parents"] });
    await parent.hf.enqueue("parent", null, { queue: "parents" });
    await world.advance(2_000);
    expect(await order()).toEqual(["late", "spawned"]);
  });

  it("jobs that wait when it is switched on go as if they had come then", async () => {
    const { hf, enqueue } = await held();
    await enqueue("before", LATE);
    await hf.queues.set(QUEUE, { agingMs: 1_000 });
    await world.advance(2_000);
    await enqueue("soon after", URGENT);
    await world.advance(2_000);
    await enqueue("long after", URGENT);
    expect(await order()).toEqual(["soon after", "before", "long after"]);
  });

  it("an enqueue that meets the look of another after a long rest waits for it as well", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let isSlow = false;
    const slow = (store: Store): Store => ({
      ...store,
      // As Redis takes them: the second does not wait for the first.
      insertsAtOnce: 2,
      records: {
        ...store.records,
        async read(keys) {
          if (isSlow && keys[0] === "holdfast/aging") await released;
          return store.records.read(keys);
        },
      },
    });
    const { hf, enqueue } = await held(world.process({ link: slow }));
    await hf.queues.set(QUEUE, { agingMs: 1_000 });
    await enqueue("before", LATE);
    await world.advance(2_000);
    // Another process says so, and this one works on nothing: it has heard of nothing.
    await world.process().hf.queues.set(QUEUE, { agingMs: null });
    await world.advance(70_000);
    isSlow = true;
    const first = enqueue("first", LATE);
    await world.time.settle();
    const second = enqueue("second", URGENT);
    await world.time.settle();
    release();
    await Promise.all([first, second]);
    expect(await order()).toEqual(["second", "before", "first"]);
  });

  it("is obeyed at once by the process that sets it, though an older look is not answered yet", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let isSlow = false;
    const slow = (store: Store): Store => ({
      ...store,
      records: {
        ...store.records,
        async read(keys) {
          const found = await store.records.read(keys);
          if (!isSlow || keys[0] !== "holdfast/aging") return found;
          isSlow = false;
          await released;
          return found;
        },
      },
    });
    const { hf, enqueue } = await held(world.process({ link: slow }));
    await world.advance(6_000);
    isSlow = true;
    await enqueue("before", LATE);
    const setting = hf.queues.set(QUEUE, { agingMs: 1_000 });
    await world.until(async () => (await world.store.records.read(["holdfast/aging"]))[0] !== null);
    release();
    await setting;
    await world.advance(4_000);
    await enqueue("long after", URGENT);
    expect(await order()).toEqual(["before", "long after"]);
  });

  it("jobs that wait when it is switched off or changed are not passed over for it", async () => {
    const { hf, enqueue } = await held();
    await hf.queues.set(QUEUE, { agingMs: 1_000 });
    await world.advance(30_000);
    await enqueue("late", LATE);
    await world.advance(10_000);
    await hf.queues.set(QUEUE, { agingMs: null });
    expect(await hf.queues.get(QUEUE)).toMatchObject({ agingMs: null });
    await enqueue("urgent", URGENT);
    await world.advance(30_000);
    await enqueue("urgent, much later", URGENT);
    await enqueue("late again", LATE);
    expect(await order()).toEqual(["late", "urgent", "urgent, much later", "late again"]);
  });

  it("a process that begins later, and one whose clock is wrong, give the same places", async () => {
    const { hf, enqueue } = await held();
    await hf.queues.set(QUEUE, { agingMs: 1_000 });
    await world.advance(20_000);
    await enqueue("late", LATE);
    await world.advance(10_000);
    const later = await held(world.process({ wallSkewMs: -3_000_000 }));
    await later.enqueue("urgent", URGENT);
    expect(await order()).toEqual(["late", "urgent"]);
  });

  it("too fine a step, a word that is none and a text are refused", async () => {
    const { hf } = world.process();
    for (const agingMs of [0, 999, -1, 1.5, "1000"]) {
      await expect(hf.queues.set(QUEUE, { agingMs: agingMs as number })).rejects.toThrow(
        InvalidOptionError,
      );
    }
    await expect(hf.queues.set(QUEUE, { aging: 1_000 } as object)).rejects.toThrow(/agingMs/);
  });
});
