/** What comes between two steps of a simulation: a kill, another process, an operator, a store that is away. */
import { afterEach, expect, it } from "vitest";
import { Holdfast, StoreUnavailableError } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { testHoldfast } from "holdfast/testing";
import { Pacing, type PacingOptions } from "@holdfast/pacing";

const MINUTE = 60_000;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const open: Holdfast[] = [];
afterEach(async () => {
  for (const hf of open.splice(0)) await hf.close();
});

function made(options: PacingOptions = {}) {
  const t = testHoldfast({ logger: quiet });
  const hf = t.hf as Holdfast;
  open.push(hf);
  const created: number[] = [];
  const create: PacingOptions["create"] = ({ index }) => void created.push(index);
  const pacing = new Pacing(hf, { create, act: () => {}, ...options });
  const run = async (ms: number, stepMs = 10_000) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await t.advance(stepMs);
      await t.drain();
    }
  };
  /** Stands where the store is asked for records. */
  const between = (see: (keys: readonly string[], found: unknown[]) => unknown[]) => {
    const read = hf.records.read.bind(hf.records);
    hf.records.read = (async (keys: readonly string[]) =>
      see(keys, await read(keys))) as typeof hf.records.read;
  };
  const begin = async (id: string, records: number, scenario = {}) => {
    const start = new Date(t.now());
    await pacing.create({ id, records, start, durationMs: 10 * MINUTE, scenario });
    await pacing.start(id);
  };
  return { t, hf, pacing, created, run, between, begin };
}

it("a store that was away is no trouble of the other side: no cooldown, no failure, no attempt", async () => {
  const { t, hf, pacing, created, run, begin } = made({ retry: { maxAttempts: 1 } });
  for (let times = 0; times < 30; times += 1) {
    const gone = new StoreUnavailableError("gone for a moment", { mayHaveHappened: false });
    t.fail("simulation.record", gone);
  }
  await begin("away", 30);
  for (let step = 0; step < 60; step += 1) {
    await run(10_000);
    const gate = await hf.gates.get("pacing:outbound");
    expect(gate).toMatchObject({ state: "closed", failures: 0, cooldownUntil: null });
  }
  await run(5 * MINUTE);
  expect(created).toHaveLength(30);
  expect((await pacing.metrics("away")).counters).toMatchObject({ records_failed: 0 });
});

it("a process that does not name the outbound guard leaves what is set, and adds its queues", async () => {
  const { hf, begin } = made({ shards: 2 });
  const breaker = { failures: 5, withinMs: 2_000, openMs: 700, probes: 2 };
  await hf.gates.set("pacing:outbound", { queue: "simulation-jobs:0", breaker });
  await begin("kept", 3);
  const gate = await hf.gates.get("pacing:outbound");
  expect(gate).toMatchObject({ breaker, cooldown: null });
  expect(gate?.targets.map(({ queue }) => queue)).toEqual([
    ...["simulation-jobs:0", "simulation-jobs:1"],
    ...["note", "call", "task", "ticket"].map((type) => `simulation-secondary:${type}`),
  ]);
});

it("a process that names the outbound guard sets it for the fleet", async () => {
  const breaker = { failures: 7, withinMs: 2_000, openMs: 700 };
  const { hf, begin } = made({ outbound: { breaker } });
  await hf.gates.set("pacing:outbound", { queue: "simulation-jobs:0", cooldown: true });
  await begin("named", 3);
  expect(await hf.gates.get("pacing:outbound")).toMatchObject({ breaker });
});

it("a pause that a resume overtakes leaves no hold behind", async () => {
  const { hf, pacing, created, run, begin } = made();
  await begin("overtaken", 20);
  await run(MINUTE);
  const pause = hf.pause.bind(hf);
  hf.pause = async (...line) => {
    hf.pause = pause;
    await pacing.resume("overtaken");
    return pause(...line);
  };
  await pacing.pause("overtaken");
  expect((await pacing.get("overtaken"))?.status).toBe("running");
  await run(15 * MINUTE);
  expect(created).toHaveLength(20);
  expect((await pacing.get("overtaken"))?.status).toBe("completed");
});

it("a simulation that is paused and resumed as it ends still ends", async () => {
  const { pacing, created, run, between, begin } = made();
  await begin("end", 5);
  let times = 0;
  between((keys, found) => {
    const isEnd = created.length === 5 && keys.length === 1 && keys[0] === "pacing/sim/end";
    if (!isEnd || times > 0) return found;
    times += 1;
    const [record] = found as { value: object }[];
    return [{ ...record, value: { ...record!.value, status: "paused" } }];
  });
  await run(20 * MINUTE);
  expect(times).toBe(1);
  expect((await pacing.get("end"))?.status).toBe("completed");
});

it("a simulation waits for a record that was noted by a worker that was killed then", async () => {
  const retry = { baseMs: 20 * MINUTE, maxMs: 20 * MINUTE };
  const { hf, pacing, run, between, begin } = made({ retry });
  let at: "before" | "noted" | "killed" = "before";
  const swap = hf.records.swap.bind(hf.records);
  hf.records.swap = (async (swaps) => {
    const results = await swap(swaps);
    if (at === "before" && JSON.stringify(swaps).includes('"made":[1')) at = "noted";
    return results;
  }) as typeof hf.records.swap;
  between((keys, found) => {
    if (at !== "noted" || !keys.some((key) => key.startsWith("pacing/seg/"))) return found;
    at = "killed";
    throw new Error("killed between the note and the settle");
  });
  await begin("noted", 4, { probabilities: { note: 1 }, delaysMs: { note: [0, 0] } });
  await run(15 * MINUTE);
  expect(at).toBe("killed");
  expect(await pacing.metrics("noted")).toMatchObject({
    ...{ status: "running", records_processed: 4 },
    counters: { notes_scheduled: 4, notes_executed: 3 },
  });
  await run(25 * MINUTE);
  expect(await pacing.metrics("noted")).toMatchObject({
    ...{ status: "completed", counters: { notes_scheduled: 4, notes_executed: 4 } },
  });
});

it.each(["abort", "pause"] as const)(
  "upkeep that looked before a simulation was told to %s does not write its row back",
  async (how) => {
    const { hf, pacing, run, begin } = made();
    await begin("told", 20);
    await run(MINUTE);
    const { ledgerRecords } = hf.tools;
    const read = ledgerRecords.read.bind(ledgerRecords);
    let isTold = false;
    ledgerRecords.read = async (keys) => {
      if (!isTold && keys.includes("pacing/simulations/told")) {
        isTold = true;
        await pacing[how]("told");
      }
      return read(keys);
    };
    await run(2 * MINUTE);
    expect(isTold).toBe(true);
    const { status } = (await pacing.get("told"))!;
    expect(status).toBe(how === "abort" ? "aborted" : "paused");
    expect(await pacing.row("told")).toMatchObject({ status });
  },
);

it("upkeep that looks while a segment is being expanded does not expand it again", async () => {
  const expanded: string[] = [];
  const info = (message: string, details: object = {}) => {
    const { simulation, segment } = details as { simulation: string; segment: number };
    if (message === "segment expanded") expanded.push(`${simulation} ${segment}`);
  };
  const hf = new Holdfast({ store: memoryStore(), logger: { ...quiet, info } }) as Holdfast;
  open.push(hf);
  const pacing = new Pacing(hf, { create() {}, act() {}, outbound: false });
  const worker = await pacing.work();
  const ids = Array.from({ length: 10 }, (_, at) => `past-${at}`);
  const start = new Date(Date.now() - 4 * 60 * MINUTE);
  for (const id of ids) {
    await pacing.create({ id, records: 60, start, durationMs: 3 * 60 * MINUTE });
    await pacing.start(id);
  }
  const created = async () => {
    const all = await Promise.all(ids.map((id) => pacing.metrics(id)));
    return all.reduce((sum, { records_processed: count }) => sum + count, 0);
  };
  await expect.poll(created, { timeout: 20_000 }).toBe(600);
  await worker.stop();
  expect(expanded.toSorted()).toEqual(ids.flatMap((id) => [0, 1, 2].map((n) => `${id} ${n}`)));
});

it("upkeep takes no record for gone while the store has not looked at all jobs", async () => {
  const { hf, pacing, created, run, begin } = made();
  await hf.pause("simulation-jobs:0");
  await begin("many", 20);
  const jobs = hf.jobs.bind(hf);
  let steps = 0;
  // As a store answers that is full of other jobs: nothing yet, and where to go on.
  hf.jobs = async (query) => {
    if (query?.limit !== 1 || query.cursor) return jobs({ ...query, cursor: null });
    steps += 1;
    return { jobs: [], nextCursor: "further" };
  };
  await run(15 * MINUTE);
  expect(steps).toBeGreaterThan(0);
  expect((await pacing.metrics("many")).counters).toMatchObject({ records_failed: 0 });
  hf.jobs = jobs;
  await hf.resume("simulation-jobs:0");
  await run(2 * MINUTE);
  expect(created).toHaveLength(20);
  expect(await pacing.metrics("many")).toMatchObject({
    ...{ status: "completed", counters: { records_created: 20, records_failed: 0 } },
  });
});
