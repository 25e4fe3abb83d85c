/** System 3's own words: names of queues, keys, fields, log lines, sources and answers, on virtual time. */
import { afterEach, describe, expect, it } from "vitest";
import { deriveShard, Pacing, type PacingOptions } from "@holdfast/pacing";
import { pacingMount, type PacingMountOptions } from "@holdfast/pacing/server";
import { createServer } from "@holdfast/server";
import { classic } from "@holdfast/server/classic";
import { RetryAfterError, StoreUnavailableError } from "holdfast";
import { testHoldfast } from "holdfast/testing";
import { MOST_EVENTS, addEvent } from "../../packages/pacing/src/thinning-events.ts";
import { ADMIN_TOKEN } from "../server/served.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function world(options: PacingOptions = {}, mount: PacingMountOptions = {}) {
  const lines: { message: string; details: Record<string, unknown> }[] = [];
  const log = (message: string, details: object = {}) =>
    void lines.push({ message, details: details as Record<string, unknown> });
  const t = testHoldfast({ logger: { debug: log, info: log, warn: log, error: log } });
  const pacing = new Pacing(t.hf, { create: () => {}, act: () => {}, ...options });
  const server = createServer(t.hf, {
    ...{ auth: { adminToken: ADMIN_TOKEN }, checkAnswers: true, print: () => {} },
    mounts: [classic(), pacingMount(pacing, mount)],
  });
  ends.push(
    () => server.close(),
    () => t.hf.close(),
  );
  const call = async (method: string, path: string, body?: unknown, token = ADMIN_TOKEN) => {
    const answer = await server.fetch(
      new Request(`http://local${path}`, {
        ...{
          method,
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.includes("json") ?? false;
    // oxlint-disable-next-line typescript/no-explicit-any -- what a server sends is read as it comes
    return { status: answer.status, text, json: (isJson ? JSON.parse(text) : null) as any };
  };
  const run = async (ms: number, stepMs = 15 * MINUTE) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await t.advance(Math.min(stepMs, ms - passed));
      await t.drain();
    }
  };
  const begin = async (id: string, more: object) => {
    await pacing.create({ id, start: new Date(t.now()), ...more } as never);
    await pacing.start(id);
    await t.drain();
  };
  return { t, hf: t.hf, pacing, lines, call, run, begin };
}

describe("a simulation of system 3", () => {
  it("has segments of an hour over [start, end), each with its first and last index, in their order", async () => {
    const { pacing, t, begin } = world();
    const start = t.now();
    await begin("s", { records: 90, durationMs: 3 * HOUR });
    const { segments } = await pacing.segments("s");
    expect(segments.map(({ start: from, end }) => [+new Date(from), +new Date(end)])).toEqual([
      ...[0, 1, 2].map((hour) => [start + hour * HOUR, start + (hour + 1) * HOUR]),
    ]);
    let next = 0;
    for (const { firstIdx, lastIdx, count } of segments) {
      expect(firstIdx).toBe(next);
      expect(lastIdx - firstIdx + 1).toBe(count);
      next = lastIdx + 1;
    }
    expect(next).toBe(90);
  });

  it("puts primaries into simulation-jobs:<shard>, and each is due at its own time, also of later segments", async () => {
    const { t, hf, pacing, begin, run } = world({ shards: 4 });
    await begin("shape", { records: 40, durationMs: 2 * HOUR });
    const queue = `simulation-jobs:${deriveShard("shape", 4)}`;
    const due = new Map<number, number>();
    const look = async () => {
      const { jobs } = await hf.jobs({ type: "simulation.record", limit: 200 });
      for (const job of jobs) {
        const { index } = job.payload as { index: number };
        expect(job.queue).toBe(queue);
        expect(job.idempotencyKey).toBe(`sim:shape:rec:${index}`);
        if (job.status === "queued") due.set(index, job.runAt.getTime());
      }
    };
    const { first, deltasMs } = await pacing.instants("shape", { limit: 40 });
    for (let quarter = 0; quarter < 9; quarter += 1) {
      await look();
      await run(15 * MINUTE);
    }
    let at = new Date(first!).getTime();
    const planned = [at, ...deltasMs.map((delta) => (at += delta))];
    expect(due.size).toBeGreaterThan(30);
    for (const [index, runAt] of due) expect(Math.max(runAt, 0)).toBe(Math.max(planned[index]!, 0));
    expect(t.enqueued("simulation.record")).toHaveLength(40);
  });

  it("finds the shard of a simulation by a stable hash, and spreads simulations over all of them", () => {
    const shards = Array.from({ length: 400 }, (_, at) => deriveShard(`sim-${at}`, 4));
    expect(shards).toEqual(shards.map((_, at) => deriveShard(`sim-${at}`, 4)));
    for (const shard of [0, 1, 2, 3]) {
      expect(shards.filter((one) => one === shard).length).toBeGreaterThan(60);
    }
    expect(deriveShard("sim-1", 1)).toBe(0);
  });

  it("keys its activities and its expansions by system 3's names, in simulation-secondary", async () => {
    const { hf, begin, run } = world();
    const scenario = { probabilities: { note: 1, call: 1 }, caps: { note: 2, call: 1 } };
    await begin("k", { records: 3, durationMs: 2 * HOUR, scenario });
    await run(3 * HOUR);
    const { jobs } = await hf.jobs({ type: "simulation.activity", limit: 100 });
    expect(jobs.map(({ idempotencyKey }) => String(idempotencyKey)).toSorted()).toEqual(
      [0, 1, 2].flatMap((i) => [
        `sim:k:sec:${i}:call:0`,
        `sim:k:sec:${i}:note:0`,
        `sim:k:sec:${i}:note:1`,
      ]),
    );
    expect(new Set(jobs.map(({ queue }) => queue))).toEqual(
      new Set(["simulation-secondary:note", "simulation-secondary:call"]),
    );
    const expansions = await hf.jobs({ type: "simulation.expand", limit: 100 });
    for (const { idempotencyKey } of expansions.jobs) {
      expect(idempotencyKey).toMatch(/^sim:k:seg:\d:expanded$/);
    }
    expect(expansions.jobs.length).toBeGreaterThanOrEqual(1);
  });

  it("gives each primary its scenario_params: base and overrides in one, and those of the moment when it runs", async () => {
    const seen: unknown[] = [];
    const { hf, pacing, begin, run } = world({
      create: ({ params }) => void seen.push(params.winRate),
    });
    await pacing.setConfig({ winRate: 0.6 }, { by: "boss" });
    await begin("p", { records: 10, durationMs: HOUR, scenario: { caps: { note: 3 } } });
    const { jobs } = await hf.jobs({ type: "simulation.record", status: "queued", limit: 50 });
    expect(jobs.length).toBeGreaterThan(0);
    for (const { payload } of jobs) {
      expect(payload).toMatchObject({ scenario_params: { winRate: 0.6, caps: { note: 3 } } });
    }
    await pacing.clearConfig({ by: "boss" });
    await run(2 * HOUR);
    expect(seen.at(-1)).toBe(0.25);
  });

  it("writes its log lines: job completed, hubspot op failed, with simulation, queue and category", async () => {
    let times = 0;
    const { lines, begin, run } = world({
      create: () => {
        times += 1;
        if (times === 1)
          throw Object.assign(new Error("Bad Gateway, sent Bearer abc.def"), { status: 502 });
      },
      retry: { baseMs: 1_000, jitter: 0 },
    });
    await begin("l", { records: 3, durationMs: 10 * MINUTE });
    await run(30 * MINUTE, MINUTE);
    const [failed, ...others] = lines.filter(({ message }) => message === "hubspot op failed");
    expect(others).toEqual([]);
    expect(failed?.details).toMatchObject({
      ...{ simulation: "l", queue: "simulation-jobs:0", attempt: 1, willRetry: true },
      category: expect.any(String) as string,
    });
    expect(String(failed?.details["message"])).toMatch(/^Bad Gateway, sent (?!.*abc)/);
    const completed = lines.filter(({ message }) => message === "job completed");
    expect(
      completed.map(({ details }) => details["index"]).toSorted((a, b) => Number(a) - Number(b)),
    ).toEqual([0, 1, 2]);
  });

  it("suspends all outbound work after a 429 until its time, and spends no attempt", async () => {
    let isLimited = true;
    const { t, hf, begin, run } = world({
      create: () => {
        if (isLimited) throw new RetryAfterError(30 * MINUTE);
      },
      outbound: {},
    });
    await begin("c", { records: 20, durationMs: 10 * MINUTE });
    await run(11 * MINUTE, MINUTE);
    const gate = await hf.gates.get("pacing:outbound");
    expect(gate!.cooldownUntil!.getTime()).toBeGreaterThan(t.now());
    isLimited = false;
    const { jobs } = await hf.jobs({ type: "simulation.record", status: "queued", limit: 50 });
    expect(jobs).toHaveLength(20);
    for (const { attempts } of jobs) expect(attempts).toBe(0);
    await run(60 * MINUTE, MINUTE);
    expect((await hf.jobs({ type: "simulation.record", status: "succeeded" })).jobs).toHaveLength(
      20,
    );
  });

  it("opens its circuit after failures in a row, and closes it by itself", async () => {
    let isDown = true;
    const { hf, begin, run } = world({
      create: () => {
        if (isDown) throw Object.assign(new Error("away"), { status: 503 });
      },
      outbound: { breaker: { failures: 3, withinMs: MINUTE, openMs: 30_000, probes: 1 } },
      retry: { maxAttempts: 50, baseMs: 1_000, maxMs: 1_000, jitter: 0 },
    });
    await begin("b", { records: 30, durationMs: 2 * MINUTE });
    await run(2 * MINUTE, 1_000);
    expect(await hf.gates.get("pacing:outbound")).toMatchObject({ state: "open" });
    isDown = false;
    await run(5 * MINUTE, 5_000);
    expect(await hf.gates.get("pacing:outbound")).toMatchObject({ state: "closed" });
    expect((await hf.jobs({ type: "simulation.record", status: "succeeded" })).jobs).toHaveLength(
      30,
    );
  });

  it("has a bucket for each action with the scenario's capacity a minute, one for all shards", async () => {
    const at: number[] = [];
    const { t, hf, pacing } = world({ shards: 3, create: () => void at.push(t.now()) });
    const ids = ["sim-1", "sim-2", "sim-3", "sim-4"];
    expect(new Set(ids.map((id) => deriveShard(id, 3))).size).toBeGreaterThan(1);
    for (const id of ids) {
      const scenario = { capacity: { contact: 10 } };
      await pacing.create({
        id,
        records: 15,
        start: new Date(t.now()),
        durationMs: MINUTE,
        scenario,
      });
      await pacing.start(id);
    }
    const gate = await hf.gates.get("pacing:contact");
    expect(gate).toMatchObject({ rate: [{ limit: 10, perMs: MINUTE }] });
    expect(gate?.targets.map(({ queue }) => queue)).toEqual(
      [0, 1, 2].map((n) => `simulation-jobs:${n}`),
    );
    const worker = await pacing.work();
    for (let second = 0; second < 600; second += 1) await t.advance(1_000);
    await worker.stop();
    expect(at).toHaveLength(60);
    const burst = gate!.rate[0]!.burst ?? 10;
    for (const from of at) {
      const inside = at.filter((one) => one >= from && one < from + MINUTE).length;
      expect(inside).toBeLessThanOrEqual(10 + burst);
    }
  });

  it("keeps a bounded list of what was thinned", () => {
    let events: ReturnType<typeof addEvent> = [];
    for (let minute = 0; minute < 3 * MOST_EVENTS; minute += 1) {
      events = addEvent(events, { at: minute * MINUTE, factor: 0.5, before: 4, after: 2 });
    }
    expect(events).toHaveLength(MOST_EVENTS);
    expect(events.at(-1)?.at).toBe((3 * MOST_EVENTS - 1) * MINUTE);
  });
});

describe("the endpoints of system 3", () => {
  const dying = {
    create: ({ index }: { index: number }) => {
      if (index === 1) throw Object.assign(new Error("bad field"), { status: 400 });
      if (index === 2) throw Object.assign(new Error("no token"), { status: 401 });
    },
  };

  it("/dlq has counts by category, samples and whether they reconcile; /api/dlq/summary has all simulations", async () => {
    const { call, begin, run } = world(dying);
    await begin("one", { records: 5, durationMs: 10 * MINUTE });
    await begin("two", { records: 5, durationMs: 10 * MINUTE });
    await run(HOUR);
    const { json } = await call("GET", "/api/simulations/one/dlq");
    expect(json).toMatchObject({
      ...{ total: 2, byCategory: { validation: 1, auth: 1 }, reconciled: true, isCut: false },
      records: { jobs: 2, counted: 2 },
    });
    expect(json.samples.map((one: { category: string }) => one.category).toSorted()).toEqual([
      ...["auth", "validation"],
    ]);
    expect((await call("GET", "/api/dlq/summary")).json).toEqual({
      ...{ total: 4, byCategory: { validation: 2, auth: 2 }, bySimulation: { one: 2, two: 2 } },
    });
  });

  it("/dlq/replay plans by strategy and fair share, runs, is audited and logged, and is limited with retryAfterMs", async () => {
    const { call, hf, lines, begin, run } = world(dying);
    await begin("r", { records: 5, durationMs: 10 * MINUTE });
    await run(HOUR);
    const path = "/api/simulations/r/dlq/replay";
    const plans = [
      [{ strategy: "oldest", limit: 1 }, 1],
      [{ strategy: "newest", perCategory: 1 }, 2],
      [{ strategy: "random", category: "auth" }, 1],
    ] as const;
    for (const [body, count] of plans) {
      const { json } = await call("POST", path, { ...body, dryRun: true });
      expect(json).toMatchObject({ operation: null, count });
    }
    const started = await call("POST", path, { useFullRetry: true, reason: "mended" });
    expect(started.json).toMatchObject({ count: 2, operation: expect.any(String) as string });
    const audits = JSON.stringify((await hf.ledger({ kind: "audit" })).entries);
    expect(audits).toContain("mended");
    const [line] = lines.filter(({ message }) => message === "dlq replay started");
    expect(line?.details).toMatchObject({ simulation: "r", operation: started.json.operation });
    expect((await call("POST", path, { dryRun: true })).status).toBe(200);
    const sixth = await call("POST", path, { dryRun: true });
    expect(sixth.status).toBe(429);
    expect(sixth.json.error.retryAfterMs).toBeGreaterThan(0);
    expect(sixth.json.error.retryAfterMs).toBeLessThanOrEqual(30_000);
  });

  it("/config is turned by admins alone", async () => {
    const { call, hf } = world();
    const answer = await call("POST", "/api/v1/tokens", { name: "op", role: "operator" });
    const token = answer.json.data.secret as string;
    for (const [method, body] of [
      ["PUT", { winRate: 1 }],
      ["DELETE", undefined],
    ] as const) {
      expect((await call(method, "/api/simulations/config", body, token)).status).toBe(403);
    }
    expect((await call("GET", "/api/simulations/config", undefined, token)).status).toBe(200);
    expect((await call("PUT", "/api/simulations/config", { winRate: 1 })).status).toBe(200);
    const audits = JSON.stringify((await hf.ledger({ kind: "audit" })).entries);
    expect(audits).toContain("set simulation config");
  });

  it("/metrics2 says its source: live, the store in trouble, switched off", async () => {
    const { t, call, hf, begin, pacing } = world();
    await begin("m", { records: 5, durationMs: HOUR });
    expect((await call("GET", "/api/simulations/m/metrics2")).json).toMatchObject({
      source: "memory",
    });
    const read = hf.records.read.bind(hf.records);
    const gone = new StoreUnavailableError("away", { mayHaveHappened: false });
    hf.records.read = () => Promise.reject(gone);
    expect((await call("GET", "/api/simulations/m/metrics2")).json).toMatchObject({
      ...{ source: "memory-error+db-fallback", id: "m" },
    });
    hf.records.read = read;
    const off = createServer(t.hf, {
      ...{ auth: { adminToken: ADMIN_TOKEN }, print: () => {} },
      mounts: [pacingMount(pacing, { live: false })],
    });
    const asked = new Request("http://local/api/simulations/m/metrics2", {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    expect(await (await off.fetch(asked)).json()).toMatchObject({
      source: "memory-disabled+db-fallback",
    });
    await off.close();
  });

  it("/metrics has depths, histograms, dead letters, thinning, budgets and segments; /api/health has the gates", async () => {
    const { call, begin, run } = world({
      ...dying,
      outbound: {},
      thinning: { backlog: 1, least: 0.2, lookMs: 0 },
    });
    const scenario = {
      budgets: { note: 9 },
      probabilities: { note: 1 },
      capacity: { contact: 600 },
    };
    await begin("x", { records: 50, durationMs: 4 * HOUR, scenario });
    await run(HOUR);
    const { text } = await call("GET", "/metrics");
    for (const family of [
      ...[/holdfast_jobs\{[^}]*queue="simulation-jobs:0"/, /holdfast_job_wait_seconds_bucket\{/],
      ...[/holdfast_job_run_seconds_bucket\{/, /holdfast_dlq_jobs\{category="auth"\} 1/],
      ...[/holdfast_simulation_thinned\{simulation="x",when="before"\}/],
      ...[/holdfast_simulation_budget_left\{simulation="x",type="note"\} \d/],
      /holdfast_simulation_segments\{simulation="x",state="total"\} 4/,
    ]) {
      expect(text).toMatch(family);
    }
    const { json } = await call("GET", "/api/health");
    expect(json).toMatchObject({ circuit: { "pacing:outbound": "closed" }, cooldownUntil: null });
    expect(JSON.stringify(json)).toContain("pacing:contact");
  });
});
