/** A queue in several parts: where jobs go, and which workers take them. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  InvalidOptionError,
  RetryAfterError,
  StoreUnavailableError,
  type Store,
} from "../../packages/holdfast/src/index.ts";
import { dyingAfter, late } from "./late.ts";
import { openWorld, STORES, type ProcessOptions, type World } from "./world.ts";

const KEY = "holdfast/shards";

const GROUPS = Array.from({ length: 40 }, (_, at) => `tenant-${at}`);

describe.each(STORES)("shards of a queue on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  const process = (options: ProcessOptions = {}) => world.process(options).hf;

  function worker(ran: string[]) {
    const hf = process();
    hf.handle("work", ({ group, queue }) => void ran.push(`${queue} ${group}`));
    return hf;
  }

  async function enqueue(hf: ReturnType<typeof process>, groups: readonly string[] = GROUPS) {
    const receipts = await Promise.all(
      groups.map((group) => hf.enqueue("work", null, { queue: "sim", group })),
    );
    return new Map(receipts.map(({ queue }, at) => [groups[at]!, queue]));
  }

  it("new jobs are spread over the parts by their group, the same in every process", async () => {
    await process().queues.set("sim", { shards: 4 }, { by: "ops" });
    const [one, other] = [await enqueue(process()), await enqueue(process())];
    expect(other).toEqual(one);
    expect([...new Set(one.values())].sort()).toEqual(["sim:0", "sim:1", "sim:2", "sim:3"]);
    const counts = await process().counts();
    const ready = Object.entries(counts).map(([queue, { ready: count }]) => [queue, count]);
    const sum = ready.reduce((total, [, count]) => total + (count as number), 0);
    expect(sum).toBe(80);
    expect(await process().queues.get("sim")).toMatchObject({ shards: 4 });
  });

  it("a worker of the queue takes all parts, and what waits under its plain name", async () => {
    const hf = process();
    await enqueue(hf, ["before"]);
    await hf.queues.set("sim", { shards: 3 });
    await enqueue(hf);
    const ran: string[] = [];
    await worker(ran).work({ queues: ["sim"] });
    await world.advance(2_000);
    expect(ran).toHaveLength(41);
    expect(ran).toContain("sim before");
  });

  it("its parts keep and age as the queue does, those that it gets later as well", async () => {
    const hf = process();
    const minute = { succeeded: { maxAgeMs: 60_000 } };
    await hf.queues.set("sim", { keep: minute, agingMs: 1_000 });
    await hf.queues.set("sim", { shards: 2 });
    const part = (shard: number) => hf.queues.get(`sim:${shard}`);
    for (const shard of [0, 1]) {
      expect(await part(shard)).toMatchObject({ keep: minute, agingMs: 1_000 });
    }
    await hf.queues.set("sim", { keep: { dead: { maxCount: 10 } }, agingMs: null });
    await hf.queues.set("sim", { shards: 3 });
    const keep = { ...minute, dead: { maxCount: 10 } };
    for (const shard of [0, 1, 2]) expect(await part(shard)).toMatchObject({ keep, agingMs: null });
  });

  it("a worker of some parts takes those alone", async () => {
    await process().queues.set("sim", { shards: 3 });
    const placed = await enqueue(process());
    const ran: string[] = [];
    await worker(ran).work({ queues: ["sim"], shards: [1] });
    await world.advance(2_000);
    const own = [...placed].filter(([, queue]) => queue === "sim:1").map(([group]) => group);
    expect(ran.sort()).toEqual(own.map((group) => `sim:1 ${group}`).sort());
    expect(own.length).toBeGreaterThan(0);
  });

  it("more parts move no waiting job, and workers that run take the new ones, too", async () => {
    const hf = process();
    await hf.queues.set("sim", { shards: 2 });
    const before = await enqueue(hf);
    const ran: string[] = [];
    const working = worker(ran);
    await working.pause("sim");
    await working.work({ queues: ["sim"] });
    await hf.queues.set("sim", { shards: 5 });
    const waiting = await hf.jobs({ status: "queued", limit: 200 });
    const places = new Map(waiting.jobs.map(({ group, queue }) => [group, queue]));
    expect(places).toEqual(before);
    await working.resume("sim");
    const after = await enqueue(hf);
    for (const [group, queue] of after) {
      if (queue !== before.get(group)) expect(["sim:2", "sim:3", "sim:4"]).toContain(queue);
    }
    await world.advance(10_000);
    expect(ran).toHaveLength(80);
  });

  it("fewer parts leave no job behind", async () => {
    const hf = process();
    await hf.queues.set("sim", { shards: 4 });
    await enqueue(hf);
    await hf.queues.set("sim", { shards: null });
    const plain = await enqueue(hf, ["after"]);
    expect(plain.get("after")).toBe("sim");
    const ran: string[] = [];
    await worker(ran).work({ queues: ["sim"] });
    await world.advance(2_000);
    expect(ran).toHaveLength(41);
  });

  it("a key is unique in the queue, whichever process enqueues it", async () => {
    await process().queues.set("sim", { shards: 4 });
    const options = { queue: "sim", idempotencyKey: "only-once" };
    const first = await process().enqueue("work", null, options);
    const second = await process().enqueue("work", null, options);
    expect([second.status, second.id]).toEqual(["duplicate", first.id]);
  });

  it("a handler that spawns into the queue spawns into its parts", async () => {
    const ran: string[] = [];
    const hf = worker(ran);
    await hf.queues.set("sim", { shards: 2 });
    hf.handle("parent", async (job) => {
      await job.spawn("work", null, { queue: "sim", group: "tenant-1" });
    });
    await hf.work({ queues: ["sim", "default"] });
    await hf.enqueue("parent", null, { queue: "default" });
    await world.advance(3_000);
    expect(ran).toEqual([expect.stringMatching(/^sim:[01] tenant-1$/)]);
  });

  it("limits and holds of the queue are those of each part", async () => {
    const hf = process();
    await hf.queues.set("sim", { shards: 2, maxActive: 7 });
    expect((await hf.lines("sim:1")).queue?.maxActive).toBe(7);
    await hf.limit("sim:1", { maxActive: 2 });
    expect((await hf.lines("sim:0")).queue?.maxActive).toBe(7);
    await hf.pause("sim");
    expect((await hf.lines("sim:1")).queue?.holds).toHaveLength(1);
  });

  it("a process that has not heard of the parts yet pauses and limits them all the same", async () => {
    const ops = process();
    await ops.counts();
    await process().queues.set("sim", { shards: 2 });
    await ops.pause("sim", { by: "ops" });
    expect((await ops.lines("sim:1")).queue?.holds).toHaveLength(1);
    const other = process();
    await other.counts();
    await ops.queues.set("sim", { shards: 3 });
    await other.queues.set("sim", { maxActive: 5 });
    expect((await ops.lines("sim:2")).queue?.maxActive).toBe(5);
  });

  it("new parts are held and bounded as their queue is", async () => {
    const hf = process();
    await hf.queues.set("sim", { shards: 2, maxActive: 7 });
    await hf.pause("sim", { reason: "maintenance" });
    await hf.pause({ queue: "sim", group: "tenant-1" }, { forMs: 60_000 });
    await hf.limit({ queue: "sim", group: "tenant-1" }, { maxActive: 1, weight: 3 });
    await hf.queues.set("sim", { shards: 4 });
    const { queue, lines } = await hf.lines("sim:3");
    expect(queue).toMatchObject({ maxActive: 7, holds: [{ reason: "maintenance", until: null }] });
    expect(lines).toMatchObject([{ group: "tenant-1", maxActive: 1, weight: 3 }]);
    expect(lines[0]?.holds[0]?.until?.getTime()).toBe(world.time.now + 60_000);
  });

  it("new parts of a queue of many groups are held and bounded by few calls", async () => {
    const calls: number[] = [];
    const { hf } = world.process({
      link: (store) => ({
        ...store,
        hold: (changes) => (calls.push(changes.length), store.hold(changes)),
        limit: (changes) => (calls.push(changes.length), store.limit(changes)),
      }),
    });
    const groups = Array.from({ length: 150 }, (_, at) => `tenant-${at}`);
    const of = groups.map((group) => ({ queue: "sim", group }));
    const hold = { forMs: null, reason: "maintenance", by: null };
    await world.store.hold(of.map((line) => ({ ...line, owner: "pause", hold })));
    await world.store.limit(of.map((line) => ({ ...line, maxActive: 1 })));
    await hf.queues.set("sim", { shards: 2 });
    // Each of the two verbs carries 300 changes, and a call at most 200 of them.
    expect(calls.toSorted((a, b) => a - b)).toEqual([100, 100, 200, 200]);
    const { lines } = await world.store.lines("sim:1", { limit: 200 });
    expect(lines).toHaveLength(150);
    expect(lines.every(({ maxActive, holds }) => maxActive === 1 && holds.length === 1)).toBe(true);
  });

  it("a gate of the queue is one for all of its parts", async () => {
    const hf = process();
    await hf.queues.set("sim", { shards: 3 });
    await hf.gates.set("crm", { queue: "sim", rate: { limit: 5, perMs: 1_000, burst: 1 } });
    await enqueue(hf);
    const ran: string[] = [];
    await worker(ran).work({ queues: ["sim"] });
    await world.advance(2_000);
    expect(ran.length).toBeGreaterThan(5);
    expect(ran.length).toBeLessThanOrEqual(12);
    expect(new Set(ran.map((one) => one.split(" ")[0])).size).toBe(3);
    const own = { queue: "sim:1", rate: { limit: 1, perMs: 1_000 } };
    await expect(hf.gates.set("own", own)).rejects.toThrow('has a rate already, by gate "crm"');
  });

  it("what holds the gate of a queue holds its parts, and those that it gets later", async () => {
    const hf = process();
    await hf.queues.set("sim", { shards: 2 });
    await hf.gates.set("crm", { queue: "sim", cooldown: true });
    const held = async (queue: string) => (await hf.lines(queue)).queue?.holds.length ?? 0;
    await hf.gates.report("crm", new RetryAfterError(60_000));
    expect(await Promise.all(["sim", "sim:0", "sim:1"].map(held))).toEqual([1, 1, 1]);
    expect(await hf.gates.held({ queue: "sim:1" })).toMatchObject([{ kind: "cooldown" }]);
    await hf.gates.force("crm", "open", { by: "ops" });
    await hf.queues.set("sim", { shards: 3 });
    expect(await Promise.all(["sim", "sim:1", "sim:2"].map(held))).toEqual([1, 1, 1]);
    expect(await hf.gates.held({ queue: "sim:2" })).toMatchObject([{ kind: "forced" }]);
    await hf.gates.remove("crm");
    expect(await Promise.all(["sim", "sim:1", "sim:2"].map(held))).toEqual([0, 0, 0]);
  });

  it("a look that is answered late does not undo what was set meanwhile", async () => {
    const slow = late(KEY);
    const { hf } = world.process({ link: slow.link });
    await hf.counts();
    await world.advance(6_000);
    slow.hold();
    await hf.enqueue("work", null, { queue: "sim", group: "a" });
    await slow.asked;
    await hf.queues.set("sim", { shards: 2 });
    slow.release();
    await world.time.settle();
    expect((await hf.enqueue("work", null, { queue: "sim", group: "a" })).queue).toMatch(/:[01]$/);
  });

  it("a worker takes new parts although its look failed, or their maker died before it told", async () => {
    let fails = false;
    const link = (store: Store): Store => {
      const { records } = store;
      return {
        ...store,
        records: {
          swap: (swaps) => records.swap(swaps),
          scan: (request) => records.scan(request),
          async read(keys) {
            if (!fails || !keys.includes(KEY)) return records.read(keys);
            throw new StoreUnavailableError("nobody answers", { mayHaveHappened: false });
          },
        },
      };
    };
    const ran: string[] = [];
    const { hf } = world.process({ link });
    hf.handle("work", ({ group, queue }) => void ran.push(`${queue} ${group}`));
    await hf.work({ queues: ["sim"] });
    fails = true;
    await process().queues.set("sim", { shards: 2 });
    await world.advance(6_000);
    fails = false;
    await world.advance(10_000);
    await enqueue(process());
    await world.advance(6_000);
    expect(ran).toHaveLength(40);
    const maker = world.process({
      link: dyingAfter(
        ({ key }) => key === KEY,
        () => maker.kill(),
      ),
    });
    void maker.hf.queues.set("sim", { shards: 20 });
    await world.until(async () => {
      const [found] = await world.store.records.read([KEY]);
      return found?.value.includes('"most":20') === true;
    });
    await world.advance(130_000);
    await enqueue(process());
    await world.advance(6_000);
    expect(ran).toHaveLength(80);
  });

  it("a number that is none, or beyond what there is, is refused", async () => {
    const hf = worker([]);
    await expect(hf.queues.set("sim", { shards: 0 })).rejects.toThrow(InvalidOptionError);
    await expect(hf.work({ queues: ["sim"], shards: [0] })).rejects.toThrow("has shards");
    await hf.queues.set("sim", { shards: 2 });
    await expect(hf.work({ queues: ["sim"], shards: [2] })).rejects.toThrow("shards 0 to 1");
    await expect(hf.work({ queues: ["sim"], shards: [] })).rejects.toThrow("list of numbers");
  });
});
