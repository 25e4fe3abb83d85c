/** What attaches to the engine, and needs no line of it changed. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ExtensionFactory } from "../../packages/holdfast/src/engine/extension.ts";
import { StoreUnavailableError } from "../../packages/holdfast/src/index.ts";
import { openWorld, signal, STORES, type World } from "./world.ts";

/** Counts runs by type, refuses one type, and notes each success in the ledger. */
function counting(runs: Map<string, number>): ExtensionFactory {
  return (host) => ({
    name: "counting",
    before({ type }) {
      runs.set(type, (runs.get(type) ?? 0) + 1);
      return type === "forbidden" ? { kind: "cancel", reason: "forbidden here" } : undefined;
    },
    decided({ id, fence, type, queue, group }, outcome) {
      if (outcome.kind !== "succeed") return undefined;
      const about = { jobId: id, type, queue, group, category: null, state: "done" };
      const entry = { id: `run:${id}:${fence}`, kind: "run", ...about, body: "{}" };
      return { outcome, entries: [{ ...entry, at: host.entryTime() }] };
    },
  });
}

describe.each(STORES)("extensions on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  it("an extension counts, refuses and adds to the ledger without a change of the engine", async () => {
    const runs = new Map<string, number>();
    const { hf } = world.process({ ledger: "store", extensions: [counting(runs)] });
    let wasCalled = false;
    hf.handle("mail", () => "sent");
    hf.handle("forbidden", () => void (wasCalled = true));
    const queue = { queue: "default" };
    for (const type of ["mail", "mail", "forbidden"]) await hf.enqueue(type, null, queue);
    await hf.work();
    await world.advance(1_000);
    expect(Object.fromEntries(runs)).toEqual({ mail: 2, forbidden: 1 });
    expect(wasCalled).toBe(false);
    expect((await hf.counts())["default"]).toMatchObject({ succeeded: 2, cancelled: 1 });
    const { entries } = await hf.ledger({ kind: "run" });
    expect(entries.map(({ type }) => type)).toEqual(["mail", "mail"]);
  });

  it("every attempt that was asked before is told how it ended, once", async () => {
    const told: string[] = [];
    const { hf } = world.process({
      extensions: [
        () => ({
          name: "told",
          before: () => undefined,
          ended: ({ attempt }, how, outcome, { ranMs }) =>
            void told.push(`${attempt} ${how} ${outcome?.kind} ${ranMs >= 0}`),
        }),
      ],
    });
    hf.define({
      type: "work",
      retry: { delaysMs: [1] },
      run(job) {
        if (job.attempt === 1) throw new Error("once");
      },
    });
    await hf.enqueue("work", null);
    await hf.work();
    await world.advance(2_000);
    expect(told).toEqual(["1 settled retry true", "2 settled succeed true"]);
  });

  it("a hook that outlasts the lease of its job starts no handler", async () => {
    let isCut = false;
    const asked: number[] = [];
    const ran: number[] = [];
    const { hf } = world.process({
      link: (store) => ({
        ...store,
        async renew(renewals, leaseMs) {
          if (!isCut) return store.renew(renewals, leaseMs);
          throw new StoreUnavailableError("away", { mayHaveHappened: false });
        },
      }),
      extensions: [
        (host) => ({
          name: "slow",
          async before({ fence }) {
            asked.push(fence);
            isCut = asked.length === 1;
            if (isCut) await new Promise<void>((done) => void host.runtime.timer(1_900, done));
            return undefined;
          },
        }),
      ],
    });
    hf.handle("work", ({ fence }) => void ran.push(fence));
    await hf.enqueue("work", null, { queue: "default" });
    await hf.work({ leaseMs: 1_500, renewMs: 300 });
    await world.advance(10_000);
    expect(asked).toHaveLength(2);
    expect(ran).toEqual([asked[1]]);
  });

  it("a hook that throws or hangs is passed over, and people hear of it", async () => {
    const { hf, said } = world.process({
      extensions: [
        () => ({
          name: "broken",
          before: () => new Promise(() => {}),
          decided() {
            throw new Error("no");
          },
          ended() {
            throw new Error("no");
          },
        }),
      ],
    });
    hf.handle("work", () => "done");
    const { id } = await hf.enqueue("work", null, { queue: "default" });
    await hf.work();
    await world.advance(3_000);
    expect(await hf.job(id)).toMatchObject({ status: "succeeded", result: "done" });
    for (const hook of ["before", "decided", "ended"]) {
      expect(said.some((line) => line.includes(`broken.${hook}`))).toBe(true);
    }
  });

  it("whoever closes waits for what extensions say of outcomes", async () => {
    const { hf } = world.process({
      extensions: [
        ({ runtime }) => ({
          name: "slow",
          decided: () =>
            new Promise((resolve) => void runtime.timer(300, () => resolve(undefined))),
        }),
      ],
    });
    const ended = signal();
    hf.define({ type: "work", retry: { maxAttempts: 1 }, run: () => ended.reached });
    const { id } = await hf.enqueue("work", null, { queue: "default" });
    const worker = await hf.work({ queues: ["default"] });
    await world.until(() => worker.running.length === 1);
    const closing = hf.close();
    ended.reach();
    await world.advance(1_000);
    await closing;
    expect(await world.store.get([{ id }])).toMatchObject([{ status: "succeeded" }]);
  });

  it("an admission decides how many jobs of a queue are leased, and hears what came of it", async () => {
    const heard: unknown[] = [];
    let open = 0;
    const { hf } = world.process({
      extensions: [
        () => ({
          name: "gate",
          admit: (queue, wanted) =>
            queue === "gated" ? { jobs: Math.min(open, wanted), nextInMs: 500 } : undefined,
          leased(_, granted, taken) {
            if (granted > 0) heard.push([granted, taken]);
            open = 0;
          },
        }),
      ],
    });
    const ran: string[] = [];
    hf.handle("work", (job) => void ran.push(job.queue));
    for (let n = 0; n < 5; n += 1) await hf.enqueue("work", null, { queue: "gated" });
    await hf.enqueue("work", null, { queue: "free" });
    await hf.work({ queues: ["gated", "free"] });
    await world.advance(2_000);
    expect(ran).toEqual(["free"]);
    open = 2;
    await world.advance(2_000);
    expect(ran).toEqual(["free", "gated", "gated"]);
    expect(heard).toEqual([[2, 2]]);
  });

  it("middleware runs around handlers, and its throw fails the attempt", async () => {
    const { hf } = world.process();
    const order: string[] = [];
    const succeeded: string[] = [];
    const stop = hf.use({
      async around(attempt, next) {
        order.push(`before ${attempt.type}`);
        const result = await next();
        order.push("after");
        if (attempt.type === "spoilt") throw new Error("refused by middleware");
        return `wrapped ${String(result)}`;
      },
      on: { succeeded: ({ type }) => succeeded.push(type) },
    });
    hf.handle("work", () => "done");
    hf.define({ type: "spoilt", retry: { maxAttempts: 1 }, run: () => "done" });
    const work = await hf.enqueue("work", null, { queue: "default" });
    const spoilt = await hf.enqueue("spoilt", null, { queue: "default" });
    await hf.work({ concurrency: 1 });
    await world.advance(1_000);
    expect(await hf.job(work.id)).toMatchObject({ result: "wrapped done" });
    expect(await hf.job(spoilt.id)).toMatchObject({ status: "dead", reason: "failed" });
    expect(order).toEqual(["before work", "after", "before spoilt", "after"]);
    expect(succeeded).toEqual(["work"]);
    stop();
    const plain = await hf.enqueue("work", null, { queue: "default" });
    await world.advance(1_000);
    expect(await hf.job(plain.id)).toMatchObject({ result: "done" });
  });

  it("events tell of enqueues, and failures how long they waited and ran", async () => {
    const { hf } = world.process();
    const enqueued: string[] = [];
    const failed: { waitedMs: number; ranMs: number }[] = [];
    hf.on("enqueued", ({ type, group }) => enqueued.push(`${type} of ${group}`));
    hf.on("failed", (event) => failed.push(event));
    const going = signal();
    hf.define({
      type: "work",
      retry: { maxAttempts: 1 },
      async run() {
        await going.reached;
        throw new Error("no");
      },
    });
    await hf.enqueue("work", null, { group: "tenant-7" });
    await world.advance(2_000);
    await hf.work();
    await world.advance(3_000);
    going.reach();
    await world.advance(100);
    expect(enqueued).toEqual(["work of tenant-7"]);
    expect(failed).toHaveLength(1);
    expect(failed[0]!.waitedMs).toBeGreaterThanOrEqual(2_000);
    expect(failed[0]!.waitedMs).toBeLessThan(2_500);
    expect(failed[0]!.ranMs).toBeGreaterThanOrEqual(2_900);
  });
});
