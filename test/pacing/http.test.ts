/** Simulations over HTTP, at the paths of system 3. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServer, type HoldfastServer } from "@holdfast/server";
import { classic } from "@holdfast/server/classic";
import { Pacing } from "@holdfast/pacing";
import { pacingMount } from "@holdfast/pacing/server";
import { testHoldfast } from "holdfast/testing";
import { ADMIN_TOKEN } from "../server/served.ts";

const HOUR = 3_600_000;
const logger = { debug() {}, info() {}, warn() {}, error() {} };

describe("simulations over HTTP", () => {
  const t = testHoldfast({ logger });
  const pacing = new Pacing(t.hf, { create: () => {}, retry: { maxAttempts: 1 }, outbound: {} });
  let server: HoldfastServer;
  beforeAll(() => {
    server = createServer(t.hf, {
      ...{ auth: { adminToken: ADMIN_TOKEN }, checkAnswers: true },
      mounts: [classic(), pacingMount(pacing)],
    });
  });
  afterAll(async () => {
    await server.close();
    await t.hf.close();
  });

  async function call(
    method: string,
    path: string,
    body?: unknown,
    token: string | null = ADMIN_TOKEN,
  ) {
    const request = new Request(`http://local${path}`, {
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = await server.fetch(request);
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.includes("json") ?? false;
    return {
      status: answer.status,
      text,
      json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
    };
  }

  it("are planned, started, looked at, paused, resumed and aborted", async () => {
    const start = new Date(t.now()).toISOString();
    const plan = { id: "web", records: 30, start, durationMs: 3 * HOUR, begin: true };
    expect(await call("POST", "/api/simulations", plan)).toMatchObject({
      ...{ status: 200, json: { id: "web", status: "running", segments: 3 } },
    });
    for (let hours = 0; hours < 2; hours += 1) {
      await t.drain();
      await t.advance(HOUR);
    }
    await t.drain();
    const { json: metrics } = await call("GET", "/api/simulations/web/metrics");
    expect(metrics).toMatchObject({ records_total: 30, status: "running" });
    expect((metrics as { records_processed: number }).records_processed).toBeGreaterThan(10);
    const { json: second } = await call("GET", "/api/simulations/web/metrics2");
    expect(second).toMatchObject({ source: "memory" });
    const { json: segments } = await call("GET", "/api/simulations/web/segments?limit=2");
    expect(segments).toMatchObject({ segments: [{ status: "complete" }, {}], next: 2 });
    const { json: instants } = await call("GET", "/api/simulations/web/timestamps?limit=5");
    expect((instants as { deltasMs: number[] }).deltasMs).toHaveLength(4);
    expect((await call("GET", "/api/simulations/web/curve?parts=3")).json).toMatchObject({
      planned: [expect.any(Number), expect.any(Number), expect.any(Number)],
    });
    expect((await call("GET", "/api/simulations/web/dlq")).json).toMatchObject({
      reconciled: true,
    });
    expect((await call("GET", "/api/simulations")).json).toMatchObject({
      simulations: [{ id: "web" }],
    });
    for (const [how, status] of [
      ["pause", "paused"],
      ["resume", "running"],
      ["abort", "aborted"],
    ]) {
      expect((await call("POST", `/api/simulations/web/${how}`, {})).json).toMatchObject({
        status,
      });
    }
    expect((await call("POST", "/api/simulations/web/start", {})).status).toBe(409);
    expect((await call("POST", "/api/simulations/web/dlq/replay", {})).status).toBe(409);
  });

  it("say what is wrong with the field, and that there is none", async () => {
    const bad = { records: 10, durationMs: HOUR, scenario: { probabilities: { note: 7 } } };
    const { status, text } = await call("POST", "/api/simulations", bad);
    expect([status, text]).toEqual([422, expect.stringContaining("probabilities.note")]);
    expect((await call("GET", "/api/simulations/none/metrics")).status).toBe(404);
    expect((await call("GET", "/api/simulations/none")).status).toBe(404);
    expect((await call("GET", "/api/simulations", undefined, null)).status).toBe(401);
  });

  it("let an admin turn knobs, for all and for one, and clear them", async () => {
    await pacing.create({ id: "knobs", records: 5, start: new Date(t.now()), durationMs: HOUR });
    const set = await call("PUT", "/api/simulations/config", { winRate: 0.9 });
    expect(set.json).toMatchObject({ overrides: { winRate: 0.9 }, params: { winRate: 0.9 } });
    const own = await call("PUT", "/api/simulations/knobs/config", { budgets: { note: 5 } });
    expect(own.json).toMatchObject({
      ...{ overrides: { budgets: { note: 5 } }, params: { winRate: 0.9 } },
    });
    expect((await call("PUT", "/api/simulations/config", { winrate: 1 })).status).toBe(422);
    expect((await call("DELETE", "/api/simulations/config")).json).toMatchObject({ overrides: {} });
    expect((await call("GET", "/api/simulations/knobs/config")).json).toMatchObject({
      params: { winRate: 0.25 },
    });
  });

  it("are in the metrics and in the health of the server", async () => {
    await pacing.create({ id: "seen", records: 5, start: new Date(t.now()), durationMs: HOUR });
    await pacing.start("seen");
    const { text } = await call("GET", "/metrics");
    expect(text).toContain('holdfast_simulation_records{simulation="seen",state="planned"} 5');
    expect(text).toContain("holdfast_simulations_running 1");
    const { json } = await call("GET", "/api/health");
    expect(json).toMatchObject({ circuit: { "pacing:outbound": "closed" } });
  });

  it("are all counted, also behind a page of others that have ended", async () => {
    for (let number = 0; number < 205; number += 1) {
      const id = `old-${String(number).padStart(3, "0")}`;
      await pacing.create({ id, records: 0, start: new Date(t.now()), durationMs: HOUR });
    }
    const { text } = await call("GET", "/metrics");
    expect(text).toContain("holdfast_simulations_running 1");
    expect(text).toContain('holdfast_simulation_records{simulation="seen",state="planned"} 5');
  });

  it("are answered from the ledger's row where the store has none, and replays are limited", async () => {
    await t.hf.records.swap([
      {
        key: "pacing/sim/web",
        expect: (await t.hf.records.get("pacing/sim/web"))!.version,
        value: null,
      },
    ]);
    expect((await call("GET", "/api/simulations/web/metrics2")).json).toMatchObject({
      ...{ source: "db-only", status: "aborted" },
    });
    const answers: number[] = [];
    for (let calls = 0; calls < 7; calls += 1) {
      answers.push(
        (await call("POST", "/api/simulations/seen/dlq/replay", { dryRun: true })).status,
      );
    }
    expect(answers.at(-1)).toBe(429);
  });
});
