/** Where jobs lie on several servers, one that does not answer keeps nothing waiting that lies on the others. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { partedStore } from "./parted-store.ts";
import { heard } from "./wakeup-links.ts";
import { openWorld, signal, STORES, type World } from "./world.ts";

describe.each(STORES)("one server of several hangs, on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  it("jobs of the others are leased meanwhile, and what it leased in vain is charged nothing", async () => {
    const { away, lost, link } = partedStore();
    const { hf } = world.process({ link });
    const producer = world.process();
    const ran: string[] = [];
    hf.define({ type: "work", retry: { maxAttempts: 1 }, run: ({ id }) => void ran.push(id) });
    const enqueue = async (queue: string) =>
      (await producer.hf.enqueue("work", null, { queue })).id;
    await hf.work({ queues: ["here", "far", "farther"] });
    await world.advance(500);
    // One after the other: what they leased in vain was under two names.
    away.add("far");
    const first = await enqueue("far");
    await world.advance(6_000);
    away.add("farther");
    const second = await enqueue("farther");
    await world.advance(6_000);
    expect(lost).toEqual([first, second]);
    for (let n = 0; n < 5; n += 1) {
      const id = await enqueue("here");
      await world.advance(6_000);
      expect(ran).toContain(id);
    }
    expect(lost).toEqual([first, second]);
    away.clear();
    await world.advance(6_000);
    for (const id of lost) {
      expect(await hf.job(id)).toMatchObject({ status: "succeeded", attempts: 1, crashes: 0 });
    }
    expect(ran).toHaveLength(7);
  });

  it("after an outage of all, those that are back are leased from although one is not", async () => {
    const { away, lost, link } = partedStore();
    const { hf } = world.process({ link });
    const producer = world.process();
    hf.define({ type: "work", retry: { maxAttempts: 1 }, run: () => {} });
    await hf.work({ queues: ["here", "far"] });
    await world.advance(500);
    for (const queue of ["here", "far"]) away.add(queue);
    const far = await producer.hf.enqueue("work", null, { queue: "far" });
    const here = await producer.hf.enqueue("work", null, { queue: "here" });
    await world.advance(6_000);
    expect(lost).not.toEqual([]);
    away.delete("here");
    await world.advance(6_000);
    expect(await hf.job(here.id)).toMatchObject({ status: "succeeded", attempts: 1, crashes: 0 });
    away.clear();
    await world.advance(6_000);
    expect(await hf.job(far.id)).toMatchObject({ status: "succeeded", attempts: 1, crashes: 0 });
  });

  it("handlers whose jobs lie on the others go on, and what became of them is stored", async () => {
    const { away, link } = partedStore();
    const { hf } = world.process({ link });
    const ended = signal();
    const aborted: string[] = [];
    const succeeded: string[] = [];
    hf.on("succeeded", ({ queue }) => succeeded.push(queue));
    hf.handle("long", async (job) => {
      job.signal.addEventListener("abort", () => aborted.push(job.queue));
      await ended.reached;
    });
    hf.handle("quick", () => {});
    for (const queue of ["here", "far"]) await hf.enqueue("long", null, { queue });
    const worker = await hf.work({ queues: ["here", "far"] });
    await world.until(() => worker.running.length === 2);
    away.add("far");
    await world.advance(30_000);
    expect(aborted).toEqual(["far"]);
    // A renewal of the one is on its way all the time; so is, from now on, an outcome.
    ended.reach();
    await world.advance(1_000);
    expect(succeeded).toEqual(["here"]);
    await hf.enqueue("quick", null, { queue: "here" });
    await world.advance(2_000);
    expect(succeeded).toEqual(["here", "here"]);
    away.clear();
    await world.advance(15_000);
    expect(succeeded).toEqual(["here", "here", "far"]);
  });

  it("who waits for a job on the others hears of its end", async () => {
    const { away, link } = partedStore();
    const { hf } = world.process({ link });
    hf.handle("work", () => {});
    const far = await hf.enqueue("work", null, { queue: "far" });
    const here = await hf.enqueue("work", null, { queue: "here" });
    away.add("far");
    const ended: string[] = [];
    // No hint of the one comes without the other: all are looked at.
    const deaf = world.process({ link: (store) => heard(link(store), []) });
    const waiting = [far, here].map(async (receipt) => {
      const { status } = await deaf.hf.waitFor(receipt);
      ended.push(`${receipt.queue} ${status}`);
    });
    await hf.work({ queues: ["here", "far"] });
    await world.advance(5_000);
    expect(ended).toEqual(["here succeeded"]);
    away.clear();
    await world.advance(5_000);
    await Promise.all(waiting);
    expect(ended).toEqual(["here succeeded", "far succeeded"]);
  });

  it("enqueues for the others are answered", async () => {
    const { away, link } = partedStore();
    const { hf } = world.process({ link });
    hf.handle("work", () => {});
    await hf.enqueue("work", null, { queue: "here" });
    away.add("far");
    const far = hf.enqueue("work", null, { queue: "far" });
    const beside = await hf.enqueue("work", null, { queue: "here" });
    const behind = await hf.enqueue("work", null, { queue: "here" });
    expect([beside.status, behind.status]).toEqual(["added", "added"]);
    away.clear();
    await world.advance(1_000);
    expect(await far).toMatchObject({ status: "added" });
  });
});
