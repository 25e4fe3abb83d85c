/** A simulation on virtual time: the real engine, the memory store, a double of the other side. */
import { afterEach, describe, expect, it } from "vitest";
import { InvalidOptionError, RetryAfterError } from "holdfast";
import { testHoldfast } from "holdfast/testing";
import {
  Pacing,
  pacingFromEnv,
  shardsFromEnv,
  SimulationNotFoundError,
  SimulationStateError,
  SimulationTakenError,
  Timeline,
  type ActivityToDo,
  type PacingOptions,
  type RecordToCreate,
} from "@holdfast/pacing";

const HOUR = 3_600_000;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

function world(options: PacingOptions = {}) {
  const lines: { message: string; details: Record<string, unknown> }[] = [];
  const log = (message: string, details: object = {}) =>
    void lines.push({ message, details: details as Record<string, unknown> });
  const t = testHoldfast({ logger: { ...quiet, debug: log, info: log, warn: log } });
  const records = new Map<string, RecordToCreate[]>();
  const activities = new Map<string, ActivityToDo[]>();
  const add = <Item extends { readonly externalKey: string }>(
    map: Map<string, Item[]>,
    item: Item,
  ) => map.set(item.externalKey, [...(map.get(item.externalKey) ?? []), item]);
  const pacing = new Pacing(t.hf, {
    create: (record) => {
      add(records, record);
      return { id: `crm-${record.index}` };
    },
    act: (activity) => void add(activities, activity),
    ...options,
  });
  /** In steps, so that segments follow each other. */
  const run = async (ms: number, stepMs = HOUR / 4) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await t.advance(Math.min(stepMs, ms - passed));
      await t.drain();
    }
  };
  return { ...t, t, pacing, records, activities, lines, run };
}

let open: ReturnType<typeof world>[] = [];
function made(options?: PacingOptions) {
  const one = world(options);
  open.push(one);
  return one;
}
afterEach(async () => {
  for (const { hf } of open) await hf.close();
  open = [];
});

const scenario = {
  deals: true,
  probabilities: { note: 0.5, call: 0.3, task: 0.2, ticket: 0.05 },
  caps: { note: 2, call: 1, task: 1, ticket: 1 },
  budgets: { note: 1_000, call: null, task: 100, ticket: 0 },
} as const;

describe("a simulation", () => {
  it("creates 5,000 records over two days, each once and at its time, and ends", async () => {
    const { pacing, records, activities, run, hf, now } = made();
    const start = new Date(now() + HOUR);
    const distribution = { shape: "bell" } as const;
    await pacing.create({
      id: "big",
      records: 5_000,
      start,
      durationMs: 48 * HOUR,
      distribution,
      scenario,
    });
    await pacing.start("big");
    await run(52 * HOUR, HOUR);
    const metrics = await pacing.metrics("big");
    expect(metrics.status).toBe("completed");
    expect(records.size).toBe(5_000);
    expect([...records.values()].every((calls) => calls.length === 1)).toBe(true);
    const plan = { start: start.getTime(), end: start.getTime() + 48 * HOUR, count: 5_000 };
    const timeline = new Timeline({ ...plan, distribution, seed: "big", segmentMs: HOUR });
    for (const [{ index, dueAt }] of [...records.values()] as [RecordToCreate][]) {
      expect(dueAt.getTime()).toBe(timeline.at(index));
    }
    const count = (type: string) =>
      [...activities.values()].filter(([one]) => one!.type === type).length;
    expect(metrics.counters).toMatchObject({
      ...{ records_created: 5_000, records_failed: 0 },
      ...{ notes_scheduled: count("note"), notes_executed: count("note") },
      ...{ calls_scheduled: count("call"), tasks_executed: count("task") },
    });
    expect(count("note")).toBe(1_000);
    expect(count("task")).toBe(100);
    expect(count("ticket")).toBe(0);
    expect(count("call")).toBeGreaterThan(1_300);
    expect(metrics.counters["deals_won"]! + metrics.counters["deals_lost"]!).toBe(5_000);
    expect(metrics.budgets.note).toEqual({ limit: 1_000, reserved: 1_000, spent: 1_000, left: 0 });
    expect(metrics.segments).toEqual({ total: 48, expanded: 48, open: [], complete: 48 });
    expect(await pacing.row("big")).toMatchObject({
      status: "completed",
      records_processed: 5_000,
    });
    expect((await hf.jobs({ status: "dead" })).jobs).toEqual([]);
  });

  it("has one segment in the store at a time, and expands each once", async () => {
    const { pacing, t, now, lines, run } = made();
    const start = new Date(now());
    await pacing.create({ id: "s", records: 400, start, durationMs: 8 * HOUR });
    await pacing.start("s");
    await t.drain();
    const first = (await pacing.segments("s")).segments;
    expect(first.map(({ status }) => status)).toEqual(["expanded", ...Array(7).fill("pending")]);
    expect(t.enqueued("simulation.record")).toHaveLength(first[0]!.count);
    await run(10 * HOUR);
    expect((await pacing.metrics("s")).status).toBe("completed");
    const expanded = lines.filter(({ message }) => message === "segment expanded");
    expect(expanded.map(({ details }) => details["segment"])).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(t.enqueued("simulation.record")).toHaveLength(400);
  });

  it("passes over segments without records", async () => {
    const { pacing, run, now, records } = made();
    const start = new Date(now());
    const distribution = { shape: "weights", weights: [1, 0, 0, 0, 0, 1] } as const;
    await pacing.create({ id: "gap", records: 20, start, durationMs: 6 * HOUR, distribution });
    await pacing.start("gap");
    await run(8 * HOUR);
    expect(records.size).toBe(20);
    expect((await pacing.get("gap"))?.status).toBe("completed");
  });

  it("waits by strict for a record that is stuck, and goes on by time without it", async () => {
    const create = ({ index }: RecordToCreate) => {
      if (index === 0) throw new RetryAfterError(48 * HOUR);
    };
    const stuck = { create, outbound: false } as const;
    for (const policy of ["strict", "by-time"] as const) {
      const { pacing, run, t, now } = made(stuck);
      const start = new Date(now());
      await pacing.create({ id: policy, records: 40, start, durationMs: 4 * HOUR, policy });
      await pacing.start(policy);
      await run(4.5 * HOUR);
      const { segments } = await pacing.metrics(policy);
      expect(segments.expanded, policy).toBe(policy === "strict" ? 1 : 4);
      expect(t.enqueued("simulation.record").length === 40, policy).toBe(policy === "by-time");
      await run(96 * HOUR, 4 * HOUR);
    }
  });

  it("counts a dead record as finished, and once more when it is replayed", async () => {
    let isDown = true;
    const { pacing, run, records, now, t } = made({
      create: (record) => {
        if (isDown && record.index === 3) throw new Error("no such field");
        records.set(record.externalKey, [record]);
      },
      retry: { maxAttempts: 1 },
    });
    const start = new Date(now());
    await pacing.create({ id: "d", records: 20, start, durationMs: 2 * HOUR });
    await pacing.start("d");
    await run(4 * HOUR);
    const metrics = await pacing.metrics("d");
    expect(metrics).toMatchObject({ status: "completed", records_processed: 20 });
    expect(metrics.counters).toMatchObject({ records_created: 19, records_failed: 1 });
    expect(await pacing.deadLetters("d")).toMatchObject({ total: 1, reconciled: true });
    isDown = false;
    expect(await pacing.replay("d", { dryRun: true })).toMatchObject({ operation: null, count: 1 });
    await pacing.replay("d", { useFullRetry: true, by: "ops", reason: "the field is there" });
    // An operation is carried on by workers that live while time passes.
    const worker = await pacing.work();
    for (let seconds = 0; seconds < 20; seconds += 1) await t.advance(1_000);
    await worker.stop();
    await t.drain();
    expect((await pacing.metrics("d")).counters).toMatchObject({
      records_created: 20,
      records_failed: 0,
    });
  });

  it("stands still while it is paused, and catches up when it is resumed", async () => {
    const { pacing, run, records, now } = made();
    const start = new Date(now());
    await pacing.create({ id: "p", records: 40, start, durationMs: 4 * HOUR });
    await pacing.start("p");
    await run(HOUR);
    await pacing.pause("p", { by: "ops", reason: "lunch" });
    const before = records.size;
    await run(2 * HOUR);
    expect(records.size).toBe(before);
    expect((await pacing.get("p"))?.status).toBe("paused");
    await pacing.resume("p");
    await run(3 * HOUR);
    expect(records.size).toBe(40);
    expect((await pacing.get("p"))?.status).toBe("completed");
  });

  it("stays aborted, whatever arrives late", async () => {
    const { pacing, run, records, now, hf } = made();
    const start = new Date(now());
    await pacing.create({ id: "a", records: 40, start, durationMs: 4 * HOUR });
    await pacing.start("a");
    await run(HOUR);
    const before = records.size;
    await pacing.abort("a", { by: "ops", reason: "wrong file" });
    await run(6 * HOUR);
    expect(records.size).toBe(before);
    await expect(pacing.start("a")).rejects.toThrow(SimulationStateError);
    await expect(pacing.resume("a")).rejects.toThrow("it stays so");
    await expect(pacing.replay("a")).rejects.toThrow(SimulationStateError);
    const counts = await hf.counts();
    const live = Object.values(counts).reduce(
      (sum, { ready, delayed }) => sum + ready + delayed,
      0,
    );
    expect(live).toBe(0);
    expect((await pacing.get("a"))?.status).toBe("aborted");
  });

  it("obeys knobs from the next job on, also of jobs that are expanded already", async () => {
    const { pacing, run, now, activities, hf } = made();
    const start = new Date(now());
    await pacing.create({ id: "k", records: 60, start, durationMs: HOUR });
    await pacing.start("k");
    await run(HOUR / 2);
    expect(activities.size).toBe(0);
    await pacing.setConfig({ probabilities: { note: 1 } }, { id: "k", by: "boss" });
    await run(3 * HOUR);
    const { counters } = await pacing.metrics("k");
    expect(counters["notes_executed"]).toBeGreaterThan(20);
    expect(counters["notes_executed"]).toBeLessThan(40);
    expect((await pacing.clearConfig({ id: "k" })).overrides).toEqual({});
    const audits = await hf.ledger({ kind: "audit" });
    expect(JSON.stringify(audits)).toContain("set simulation config");
  });

  it("thins out what is optional under pressure, and says so", async () => {
    const { pacing, run, now, lines } = made({
      thinning: { backlog: 1, least: 0.2, lookMs: 0 },
      outbound: false,
    });
    const start = new Date(now());
    await pacing.create({
      ...{ id: "t", records: 300, start, durationMs: HOUR },
      scenario: { probabilities: { note: 1 }, caps: { note: 4 }, delaysMs: { note: [0, 0] } },
    });
    await pacing.start("t");
    await run(3 * HOUR, HOUR);
    const { counters, thinning } = await pacing.metrics("t");
    expect(counters["notes_scheduled"]! + counters["activities_thinned"]!).toBe(1_200);
    const told = lines.filter(({ message }) => message === "activity thinning applied");
    expect(counters["activities_thinned"]).toBeGreaterThan(0);
    expect(told.length).toBeGreaterThan(0);
    for (const { details } of told) {
      expect(details["after"]).toBeLessThan(details["before"] as number);
      expect(details["factor"]).toBeLessThan(1);
    }
    const lost = thinning.reduce((sum, { before, after }) => sum + before - after, 0);
    expect(lost).toBe(counters["activities_thinned"]);
  });

  it("takes shards from the environment, and refuses what is none", () => {
    expect(pacingFromEnv({ SIMCRM_QUEUE_SHARDS: "8" })).toEqual({ shards: 8 });
    expect(pacingFromEnv({})).toEqual({});
    expect(shardsFromEnv({ SIMCRM_SHARD_INDEX: "3" })).toEqual([3]);
    expect(shardsFromEnv({ HOLDFAST_SHARD_INDEX: "0,2", SIMCRM_SHARD_INDEX: "3" })).toEqual([0, 2]);
    expect(shardsFromEnv({})).toBe("all");
    expect(() => shardsFromEnv({ SIMCRM_SHARD_INDEX: "one" })).toThrow("SIMCRM_SHARD_INDEX");
    expect(() => pacingFromEnv({ SIMCRM_QUEUE_SHARDS: "0" })).toThrow("SIMCRM_QUEUE_SHARDS");
  });

  it("answers the same for the same plan, and refuses another under its id", async () => {
    const { pacing, now } = made();
    const plan = { id: "x", records: 10, start: new Date(now()), durationMs: HOUR };
    await pacing.create(plan);
    await expect(pacing.create(plan)).resolves.toMatchObject({ id: "x", records: 10 });
    for (const other of [
      { records: 11 },
      { scenario: { winRate: 0.5 } },
      { scenario: { deals: true } },
      { scenario: { capacity: { note: 5 } } },
      { policy: "by-time" as const },
      { data: { portal: 7 } },
    ]) {
      await expect(pacing.create({ ...plan, ...other })).rejects.toThrow(SimulationTakenError);
    }
    await expect(pacing.start("y")).rejects.toThrow(SimulationNotFoundError);
  });

  it.each([
    [{ records: -1, durationMs: HOUR }, "records must be a whole number from 0"],
    [{ records: 1, start: new Date(2), end: new Date(1) }, "end must come after start"],
    [{ records: 1 }, "end or durationMs"],
    [
      { records: 1, durationMs: HOUR, scenario: { probabilities: { note: 1.5 } } },
      "probabilities.note",
    ],
    [
      { records: 1, durationMs: HOUR, scenario: { probability: 1 } },
      'did you mean "probabilities"',
    ],
    [{ records: 1, durationMs: HOUR, policy: "lax" }, "policy must be"],
    [{ records: 10_000_000, durationMs: HOUR }, "choose a shorter segmentMs"],
    [{ records: 1, durationMs: HOUR, segmentMs: 10 }, "segmentMs must be"],
    [{ id: "a b", records: 1, durationMs: HOUR }, "cannot be the id"],
    [{ id: "config", records: 1, durationMs: HOUR }, "cannot be the id"],
  ])("refuses %j and names the field", async (options, words) => {
    const { pacing } = made();
    const create = pacing.create(options as never);
    await expect(create).rejects.toThrow(InvalidOptionError);
    await expect(create).rejects.toThrow(words);
  });

  it("refuses a knob that it does not know, and a shard that is none", async () => {
    const { pacing } = made({ shards: 2 });
    await expect(pacing.setConfig({ winrate: 1 } as never)).rejects.toThrow(
      'did you mean "winRate"',
    );
    expect(() => pacing.queues({ shards: 2 })).toThrow("from 0 to 1");
    expect(pacing.queues({ shards: [1], secondary: false })).toEqual(["simulation-jobs:1"]);
  });
});
