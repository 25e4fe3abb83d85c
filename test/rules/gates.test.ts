/** Gates hold jobs back: rates, cooldowns and breakers that a fleet keeps as one. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  GateNotFoundError,
  InvalidNameError,
  InvalidOptionError,
  RetryAfterError,
} from "../../packages/holdfast/src/index.ts";
import type { GateOptions, Holdfast, Store } from "../../packages/holdfast/src/index.ts";
import { dyingAfter } from "./late.ts";
import { EVERY_STORE, openWorld, type Process, type World } from "./world.ts";

const DOWN = Object.assign(new Error("down"), { code: "ECONNREFUSED" });
const TOO_MANY = Object.assign(new Error("too many"), { status: 429 });
const BREAKER = { failures: 3, withinMs: 60_000, openMs: 10_000, probes: 2 };

describe.each(EVERY_STORE)("gates on %s", { timeout: 120_000 }, (name) => {
  let world: World;
  let starts: { readonly at: number; readonly id: number; readonly group: string | null }[];
  let handle: (id: number) => unknown;
  beforeEach(async () => {
    world = await openWorld(name);
    starts = [];
    handle = () => {};
  });
  afterEach(() => world.close());

  async function worker(queues = ["crm"], concurrency = 10): Promise<Process> {
    const process = world.process();
    process.hf.handle("work", async (job) => {
      const { id } = job.payload as { id: number };
      starts.push({ at: world.time.now, id, group: job.group });
      await handle(id);
    });
    await process.hf.work({ queues, concurrency });
    return process;
  }

  function add(hf: Holdfast, count: number, options: { queue?: string; group?: string } = {}) {
    return hf.enqueueAll(
      Array.from({ length: count }, (_, id) => ({
        ...{ type: "work", payload: { id }, queue: "crm", ...options },
      })),
    );
  }

  /** Most starts in any window of this length. */
  function most(windowMs: number, of = starts): number {
    const times = of.map(({ at }) => at).toSorted((a, b) => a - b);
    return Math.max(
      0,
      ...times.map((from, at) => times.slice(at).filter((to) => to - from < windowMs).length),
    );
  }

  it("in every window at most limit and burst start over the fleet, and the rate is used", async () => {
    const [one] = await Promise.all([worker(), worker(), worker()]);
    await one.hf.gates.set("hubspot", {
      queue: "crm",
      rate: { limit: 20, perMs: 1_000, burst: 5 },
    });
    await world.advance(6_000);
    await add(one.hf, 150);
    await world.advance(4_000);
    expect(most(1_000)).toBeLessThanOrEqual(25);
    expect(starts.length).toBeGreaterThanOrEqual(0.85 * 80);
    expect(starts.length).toBeLessThanOrEqual(85);
    const { jobs } = await one.hf.jobs({ queue: "crm", status: "queued", limit: 200 });
    expect(jobs.every(({ attempts }) => attempts === 0)).toBe(true);
  });

  it("a gate per group gives each group its rate, and no group waits for another", async () => {
    const [one, two] = await Promise.all([worker(), worker()]);
    let handedBack = 0;
    for (const { hf } of [one, two]) hf.on("released", () => (handedBack += 1));
    await one.hf.gates.set("per-tenant", {
      queue: "crm",
      rate: { limit: 5, perMs: 1_000, per: "group" },
    });
    await world.advance(6_000);
    await add(one.hf, 100, { group: "big" });
    await add(one.hf, 3, { group: "small" });
    await world.advance(4_000);
    const of = (group: string) => starts.filter((start) => start.group === group);
    expect(of("small")).toHaveLength(3);
    expect(most(1_000, of("big"))).toBeLessThanOrEqual(6);
    expect(of("big").length).toBeGreaterThanOrEqual(0.85 * 20);
    const { jobs } = await one.hf.jobs({ queue: "crm", status: "queued", limit: 200 });
    expect(jobs.every(({ attempts }) => attempts === 0)).toBe(true);
    // What is leased for nothing is in proportion to what runs, not to what waits.
    expect(handedBack).toBeLessThan(12 * starts.length);
    // A hold ends with each fifth of a second, when there is room for one more.
    await world.advance(100);
    const { lines } = await one.hf.lines("crm");
    expect(lines.find(({ group }) => group === "big")?.holds[0]?.owner).toBe("gate:per-tenant");
  });

  it("a 429 holds everybody until then and spends no attempt, the longest time wins", async () => {
    const [one] = await Promise.all([worker(), worker()]);
    await one.hf.gates.set("hubspot", { queue: "crm", cooldown: true });
    await world.advance(6_000);
    const begin = world.time.now;
    handle = () => {
      if (starts.length === 1) throw new RetryAfterError(20_000);
    };
    await add(one.hf, 1);
    await world.advance(500);
    await one.hf.gates.report("hubspot", TOO_MANY);
    await add(one.hf, 20);
    await world.advance(18_000);
    expect(starts).toHaveLength(1);
    const { queue } = await one.hf.lines("crm");
    expect(queue?.holds).toMatchObject([{ owner: "gate:hubspot" }]);
    const { cooldownUntil } = (await one.hf.gates.get("hubspot"))!;
    expect(Math.abs(cooldownUntil!.getTime() - begin - 20_000)).toBeLessThan(1_000);
    await world.advance(10_000);
    expect(starts).toHaveLength(22);
    const { jobs } = await one.hf.jobs({ queue: "crm", limit: 100 });
    expect(jobs.every(({ attempts, status }) => attempts === 1 && status === "succeeded")).toBe(
      true,
    );
  });

  it("no 429 spends an attempt under a cooldown, one without a time counts as 15 s", async () => {
    const { hf } = await worker();
    await hf.gates.set("hubspot", { queue: "crm", cooldown: true });
    const begin = world.time.now;
    handle = () => {
      if (starts.length <= 6) throw TOO_MANY;
    };
    await add(hf, 1);
    await world.advance(7 * 16_000);
    expect(starts).toHaveLength(7);
    expect(starts.slice(1).every(({ at }, before) => at - starts[before]!.at >= 14_500)).toBe(true);
    expect(starts[0]!.at - begin).toBeLessThan(1_000);
    const { jobs } = await hf.jobs({ queue: "crm" });
    expect(jobs).toMatchObject([{ status: "succeeded", attempts: 1 }]);
    await hf.gates.report("hubspot", new RetryAfterError(3_600_000));
    const { cooldownUntil } = (await hf.gates.get("hubspot"))!;
    const forMs = cooldownUntil!.getTime() - world.time.now;
    expect(Math.abs(forMs - 15 * 60_000)).toBeLessThan(1_000);
  });

  it("a breaker opens for the fleet, sends its probes, and closes when they went well", async () => {
    const [one] = await Promise.all([worker(), worker()]);
    await one.hf.gates.set("hubspot", { queue: "crm", breaker: BREAKER });
    await world.advance(6_000);
    let isDown = true;
    handle = async () => {
      await new Promise<void>((resolve) => void world.time.timer(100, resolve));
      if (isDown) throw DOWN;
    };
    await add(one.hf, 30);
    await world.advance(1_000);
    const whenOpened = starts.length;
    // Twenty slots, and in each process two that became free before the third failure.
    expect(whenOpened).toBeLessThanOrEqual(24);
    expect(await one.hf.gates.get("hubspot")).toMatchObject({ state: "open" });
    expect((await one.hf.lines("crm")).queue?.holds[0]?.owner).toBe("gate:hubspot");
    await world.advance(7_000);
    expect(starts).toHaveLength(whenOpened);
    await world.advance(8_000);
    // Two probes, and it opens again.
    expect(starts).toHaveLength(whenOpened + 2);
    expect(await one.hf.gates.get("hubspot")).toMatchObject({ state: "open" });
    isDown = false;
    await world.advance(20_000);
    expect(await one.hf.gates.get("hubspot")).toMatchObject({ state: "closed", failures: 0 });
    expect((await one.hf.lines("crm")).queue?.holds).toEqual([]);
    const { jobs } = await one.hf.jobs({ queue: "crm", status: "succeeded", limit: 100 });
    expect(jobs).toHaveLength(30);
  });

  it("what is forced lasts until auto, in every process, and is audited", async () => {
    const ops = world.process();
    const one = await worker();
    await ops.hf.gates.set("hubspot", { queue: "crm", breaker: BREAKER });
    await ops.hf.gates.force("hubspot", "open", { by: "ops", reason: "maintenance" });
    await add(one.hf, 3);
    await world.advance(10_000);
    expect(starts).toEqual([]);
    expect(await ops.hf.gates.held({ queue: "crm" })).toMatchObject([
      { gate: "hubspot", kind: "forced", until: null },
    ]);
    await ops.hf.gates.force("hubspot", "closed");
    handle = () => {
      throw DOWN;
    };
    await world.advance(6_000);
    await add(one.hf, 10);
    await world.advance(1_000);
    expect(starts.length).toBeGreaterThanOrEqual(13);
    await ops.hf.gates.force("hubspot", "auto");
    expect((await ops.hf.gates.list())[0]).toMatchObject({ forced: "auto" });
    const { entries } = await ops.hf.ledger({ kind: "audit" });
    const actions = entries.map(({ body }) => (body as { action: string }).action);
    expect(actions.filter((action) => action === "force gate")).toHaveLength(3);
    expect(await ops.hf.gates.remove("hubspot")).toBe(true);
    expect(await ops.hf.gates.remove("hubspot")).toBe(false);
    expect((await one.hf.lines("crm")).queue?.holds ?? []).toEqual([]);
  });

  it("a gate that was removed holds nothing, though its process died over it", async () => {
    let isRemoving = false;
    const link = dyingAfter(
      ({ key, value }) => isRemoving && key.includes("/gates/rule/") && value === null,
      () => ops.kill(),
    );
    const ops = world.process({ link });
    const one = world.process();
    await ops.hf.gates.set("hubspot", { queue: "crm", breaker: BREAKER });
    await ops.hf.gates.force("hubspot", "open", { by: "ops" });
    isRemoving = true;
    void ops.hf.gates.remove("hubspot");
    await world.until(async () => (await one.hf.gates.list()).length === 0);
    expect((await one.hf.lines("crm")).queue?.holds ?? []).toEqual([]);
  });

  it("what is set or forced again is told again: the first one may have died before it could", async () => {
    const one = await worker();
    await world.advance(6_000);
    const isRule = ({ key }: { readonly key: string }) => key.includes("/gates/rule/");
    const setting = world.process({ link: dyingAfter(isRule, () => setting.kill()) });
    const rule: GateOptions = { queue: "crm", rate: { limit: 1, perMs: 60_000, burst: 1 } };
    void setting.hf.gates.set("hubspot", rule);
    await world.until(async () => (await one.hf.gates.list()).length === 1);
    const ops = world.process();
    await ops.hf.gates.set("hubspot", rule);
    await world.advance(6_000);
    await add(one.hf, 10);
    await world.advance(2_000);
    expect(starts.length).toBeLessThanOrEqual(2);
    await ops.hf.gates.force("hubspot", "open");
    const forcing = world.process({ link: dyingAfter(isRule, () => forcing.kill()) });
    void forcing.hf.gates.force("hubspot", "auto");
    await world.until(async () => (await ops.hf.gates.list())[0]?.forced === "auto");
    await ops.hf.gates.force("hubspot", "auto");
    expect((await ops.hf.lines("crm")).queue?.holds ?? []).toEqual([]);
  });

  it("a gate that gives way to another one is as it was before", async () => {
    const [one, two] = [world.process().hf, world.process().hf];
    const rate = { limit: 1, perMs: 1_000 };
    await one.gates.set("first", { queue: "crm", rate });
    await one.gates.set("second", { queue: "mail", rate });
    await two.gates.list();
    // Both look before either has written.
    const changed = await Promise.allSettled([
      one.gates.set("first", { queue: "sync", rate }),
      two.gates.set("second", { queue: "sync", rate }),
    ]);
    expect(changed.map(({ status }) => status)).toContain("rejected");
    const gates = await one.gates.list();
    expect(gates.map(({ name: gate }) => gate)).toEqual(["first", "second"]);
  });

  it("one gate covers several queues, and a gate of one group holds that group only", async () => {
    const { hf } = await worker(["crm", "mail"]);
    await hf.gates.set("both", { queue: ["crm", "mail"], rate: { limit: 10, perMs: 1_000 } });
    await hf.gates.set("one", { queue: { queue: "mail", group: "slow" }, cooldown: true });
    await add(hf, 50);
    await add(hf, 50, { queue: "mail" });
    await world.advance(3_000);
    expect(most(1_000)).toBeLessThanOrEqual(11);
    expect(starts.length).toBeGreaterThan(15);
    await hf.gates.remove("both");
    handle = () => {
      if (starts.at(-1)?.group === "slow") throw new RetryAfterError(60_000);
    };
    await add(hf, 2, { queue: "mail", group: "slow" });
    await world.advance(3_000);
    await add(hf, 2, { queue: "mail", group: "slow" });
    await add(hf, 2, { queue: "mail", group: "quick" });
    await world.advance(3_000);
    expect(starts.filter(({ group }) => group === "quick")).toHaveLength(2);
    expect(starts.filter(({ group }) => group === "slow").length).toBeLessThanOrEqual(2);
  });

  it("a rate may be a list: a grant needs all of them", async () => {
    const { hf } = await worker();
    const rate = [
      { limit: 10, perMs: 1_000, burst: 5 },
      { limit: 20, perMs: 86_400_000, burst: 12 },
    ];
    await hf.gates.set("both", { queue: "crm", rate });
    await add(hf, 50);
    await world.advance(10_000);
    expect(starts).toHaveLength(12);
    expect((await hf.gates.held({ queue: "crm" }))[0]).toMatchObject({
      gate: "both",
      kind: "rate",
    });
  });

  it("a group of its own has a breaker of its own", async () => {
    const { hf } = await worker();
    await hf.gates.set("tenants", { queue: "crm", per: "group", breaker: BREAKER });
    handle = () => {
      if (starts.at(-1)?.group === "down") throw DOWN;
    };
    await add(hf, 5, { group: "down" });
    await world.advance(5_000);
    expect(await hf.gates.get("tenants", { group: "down" })).toMatchObject({ state: "open" });
    const whenOpened = starts.length;
    await add(hf, 5, { group: "down" });
    await add(hf, 5, { group: "up" });
    await world.advance(4_000);
    expect(starts).toHaveLength(whenOpened + 5);
    handle = () => {};
    await world.advance(20_000);
    expect(await hf.gates.get("tenants", { group: "down" })).toMatchObject({ state: "closed" });
    expect(starts.filter(({ group, at }) => group === "down" && at > 0).length).toBeGreaterThan(9);
  });

  it("a process that is killed with grants or probes in hand blocks nobody for long", async () => {
    const [one, two] = await Promise.all([worker(), worker()]);
    await one.hf.gates.set("hubspot", { queue: "crm", breaker: { ...BREAKER, probes: 1 } });
    await world.advance(6_000);
    let isDown = true;
    handle = () => {
      if (isDown) throw DOWN;
      return starts.length === atProbe + 1 ? new Promise(() => {}) : undefined;
    };
    let atProbe = Infinity;
    await add(one.hf, 5);
    await world.advance(1_000);
    expect(await two.hf.gates.get("hubspot")).toMatchObject({ state: "open" });
    isDown = false;
    atProbe = starts.length;
    await world.until(async () => {
      await world.advance(1_000);
      return starts.length > atProbe;
    });
    // The probe hangs in one of them; whichever it is, that process dies.
    const { jobs } = await one.hf.jobs({ queue: "crm", status: "processing" });
    expect(jobs).toHaveLength(1);
    const list = await one.hf.workers.list();
    const holder = list.find(({ running }) => running.length > 0)?.id;
    const isFirst = one.hf.health().workers.some(({ id }) => id === holder);
    (isFirst ? one : two).kill();
    const left = isFirst ? two : one;
    await world.advance(130_000);
    expect(await left.hf.gates.get("hubspot")).toMatchObject({ state: "closed" });
  });

  it("an idle process asks nothing of a gate, and without gates nothing is asked at all", async () => {
    let reads = 0;
    const process = world.process({ link: (store) => watching(store, () => (reads += 1)) });
    process.hf.handle("work", () => {});
    await process.hf.work({ queues: ["crm"] });
    await world.advance(10_000);
    expect(reads).toBeLessThanOrEqual(1);
    await process.hf.gates.set("hubspot", { queue: "crm", rate: { limit: 10, perMs: 1_000 } });
    await world.advance(6_000);
    reads = 0;
    await world.advance(20_000);
    expect(reads).toBe(0);
  });

  it("a gate whose maker died before it told of it is obeyed within minutes", async () => {
    const { hf } = await worker();
    await world.advance(1_000);
    const maker = world.process({
      link: dyingAfter(
        ({ key }) => key === "holdfast/gates/rule/hubspot",
        () => maker.kill(),
      ),
    });
    void maker.hf.gates.set("hubspot", {
      queue: "crm",
      rate: { limit: 1, perMs: 3_600_000, burst: 1 },
    });
    await world.until(async () => (await hf.gates.list()).length === 1);
    await world.advance(130_000);
    await add(hf, 10);
    await world.advance(1_000);
    expect(starts.length).toBeLessThan(3);
  });

  it("a gate whose remover died before it told of it is gone once it is removed again", async () => {
    const { hf } = await worker();
    await hf.gates.set("hubspot", {
      queue: "crm",
      rate: { limit: 1, perMs: 3_600_000, burst: 1 },
    });
    await add(hf, 5);
    await world.advance(2_000);
    expect(starts).toHaveLength(1);
    const remover = world.process({
      link: dyingAfter(
        ({ key, value }) => key === "holdfast/gates/rule/hubspot" && value === null,
        () => remover.kill(),
      ),
    });
    void remover.hf.gates.remove("hubspot");
    const { hf: other } = world.process();
    await world.until(async () => (await other.gates.list()).length === 0);
    expect(await other.gates.remove("hubspot")).toBe(false);
    // Five seconds until an idle process hears of it, and five until it polls.
    await world.advance(15_000);
    expect(starts).toHaveLength(5);
  });

  it("calls outside of jobs use the same gates", async () => {
    const { hf } = world.process();
    await hf.gates.set("contact", { rate: { limit: 10, perMs: 1_000, burst: 3 }, cooldown: true });
    const done: number[] = [];
    const call = async () => {
      await hf.gates.acquire("contact");
      done.push(world.time.now);
    };
    /** Time passes until so many calls were let through. */
    const untilDone = (count: number) =>
      world.until(async () => {
        await world.advance(50);
        return done.length >= count;
      });
    const begin = world.time.now;
    const calls = Array.from({ length: 13 }, call);
    await untilDone(13);
    await Promise.all(calls);
    // Three at once, the others by tens a second.
    expect(done.filter((at) => at - begin < 450).length).toBeLessThanOrEqual(8);
    expect(done.at(-1)! - begin).toBeGreaterThanOrEqual(950);
    await hf.gates.report("contact", new RetryAfterError(5_000));
    const stopped = new AbortController();
    const aborted = hf.gates.acquire("contact", { signal: stopped.signal });
    const later = call();
    await world.advance(1_000);
    stopped.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    await world.advance(3_000);
    expect(done).toHaveLength(13);
    await untilDone(14);
    await later;
    let isThrough = false;
    const waiting = hf.gates.acquire("contact", { cost: 3 }).then(() => (isThrough = true));
    await expect(hf.gates.acquire("contact", { cost: 4 })).rejects.toThrow(/burst/);
    await expect(hf.gates.acquire("note")).rejects.toThrow(GateNotFoundError);
    await world.until(async () => {
      await world.advance(50);
      return isThrough;
    });
    await waiting;
  });

  it("a probe that was never reported takes no later failure with it", async () => {
    const [one, other] = [world.process().hf, world.process().hf];
    await one.gates.set("api", { breaker: { failures: 1, withinMs: 60_000, openMs: 1_000 } });
    const opens = async (hf: Holdfast) => {
      await hf.gates.report("api", DOWN);
      await world.advance(500);
      expect(await one.gates.get("api")).toMatchObject({ state: "open" });
      await world.advance(1_000);
    };
    await opens(one);
    // A probe, which goes well without a word.
    await one.gates.acquire("api");
    await world.advance(11_000);
    await opens(other);
    await other.gates.acquire("api");
    await other.gates.report("api");
    await world.advance(500);
    expect(await one.gates.get("api")).toMatchObject({ state: "closed" });
    await opens(one);
  });

  it("a gate that makes no sense is refused with the correct form", async () => {
    const { hf } = world.process();
    const refused = async (gate: unknown, message: RegExp) => {
      await expect(hf.gates.set("g", gate as GateOptions)).rejects.toThrow(InvalidOptionError);
      await expect(hf.gates.set("g", gate as GateOptions)).rejects.toThrow(message);
    };
    await refused({ queue: "crm" }, /rate: \{ limit, perMs \}/);
    await refused({ queue: "crm", rate: { limit: 0, perMs: 1 } }, /rate\.limit/);
    await refused({ queue: "crm", rate: { limit: -1, perMs: 1 } }, /rate\.limit/);
    await refused({ queue: "crm", rate: { limit: 1, perMs: 1, burst: 0 } }, /rate\.burst/);
    await refused({ queue: "crm", rate: { limit: 1, per: 1 } }, /perMs/);
    await refused({ queue: "crm", rates: { limit: 1, perMs: 1 } }, /"rate"/);
    await refused({ breaker: { ...BREAKER, countsAsDown: [] } }, /counts nothing/);
    await refused({ breaker: { ...BREAKER, countsAsDown: () => true } }, /classify/);
    await refused({ breaker: { ...BREAKER, failures: 0 } }, /failures/);
    await refused({ queue: { queue: "a", group: "b" }, cooldown: true, per: "group" }, /group/);
    await expect(hf.gates.set("a b", { cooldown: true })).rejects.toThrow(InvalidNameError);
    await hf.gates.set("first", { queue: ["crm", "mail"], rate: { limit: 1, perMs: 1_000 } });
    await refused({ queue: "mail", rate: { limit: 1, perMs: 1_000 } }, /"first"/);
    await hf.gates.set("second", { queue: "mail", cooldown: true });
    await expect(hf.gates.force("third", "open")).rejects.toThrow(GateNotFoundError);
    await expect(hf.gates.force("first", "opne" as "open")).rejects.toThrow(/"open"/);
  });
});

/** Calls back for every call about the records of gates. */
function watching(store: Store, onCall: () => void): Store {
  const { records } = store;
  const note = (keys: readonly string[]) => {
    if (keys.some((key) => key.startsWith("holdfast/gates/"))) onCall();
  };
  const watched: Store["records"] = {
    read: (keys) => (note(keys), records.read(keys)),
    swap: (swaps) => (note(swaps.map(({ key }) => key)), records.swap(swaps)),
    scan: (request) => (note([request.prefix]), records.scan(request)),
  };
  return new Proxy(store, {
    get: (target, name, receiver) =>
      name === "records" ? watched : (Reflect.get(target, name, receiver) as unknown),
  });
}
