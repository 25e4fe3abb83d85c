/** System 3 over HTTP, on whatever stores: simulations that make records in the CRM, by the client of its sync. */
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { CrmOffice, WAIT } from "./crm-office.ts";
import type { Env, Office } from "./office.ts";

const BASE = "/api/simulations";
const SOON = [0, 20];
const PLAN = {
  ...{ records: 6, durationMs: 2_000, segmentMs: 1_000, begin: true },
  scenario: {
    ...{ deals: true, winRate: 1, probabilities: { note: 1, call: 1, task: 1, ticket: 1 } },
    budgets: { ticket: 4 },
    delaysMs: { note: SOON, call: SOON, task: SOON, ticket: SOON },
  },
};

export function systemThree(env: () => Promise<Env>): void {
  let crm: CrmOffice;
  let office: Office;
  beforeAll(async () => {
    crm = await CrmOffice.open(await env());
    office = crm.office;
  });
  afterEach(() => crm?.double.faults.clear());
  afterAll(() => crm?.close());

  const ask = async (path: string) => (await office.get("viewer", `${BASE}/${path}`)).body;
  const status = async (id: string) => (await ask(id)).status as string;

  it("makes each record and activity once in the CRM, in segments, and counts them", async () => {
    const made = await office.post("staff", BASE, { id: "spring", ...PLAN });
    expect(made).toMatchObject({ status: 200, body: { id: "spring", status: "running" } });
    await expect.poll(() => status("spring"), WAIT).toBe("completed");
    const done = async () => {
      const { counters } = await ask("spring/metrics");
      return ["notes", "calls", "tasks", "tickets"].map(
        (type) => counters[`${type}_executed`] as number,
      );
    };
    await expect.poll(done, WAIT).toEqual([6, 6, 6, 4]);
    const sizes = (["contacts", "deals", "notes", "calls", "tasks", "tickets"] as const).map(
      (object) => crm.double.objects(object).length,
    );
    expect(sizes).toEqual([6, 6, 6, 6, 6, 4]);
    const [deal] = crm.double.objects("deals");
    expect(deal?.properties).toMatchObject({ dealstage: "closedwon" });
    const { body: segments } = await office.get("viewer", `${BASE}/spring/segments`);
    expect(segments.segments).toHaveLength(2);
    expect(segments.segments[0]).toMatchObject({ firstIdx: 0, status: "complete" });
    const { name } = await office.hf.info();
    expect(await ask("spring/metrics2")).toMatchObject({ source: name, records_processed: 6 });
    expect((await ask("spring/timestamps")).deltasMs).toHaveLength(5);
  });

  it("keeps what died by category, and replays it, five times in half a minute", async () => {
    const path = /contacts\/batch\/upsert/;
    crm.double.faults.add({ kind: "status", status: 400, times: 3, path });
    const few = { records: 3, durationMs: 1_000, begin: true };
    expect((await office.post("staff", BASE, { id: "hard", ...few })).status).toBe(200);
    const dead = () => ask("hard/dlq");
    await expect.poll(async () => (await dead()).total as number, WAIT).toBe(3);
    expect(await dead()).toMatchObject({ byCategory: { validation: 3 } });
    const summary = await office.get("viewer", "/api/dlq/summary");
    expect(summary.body).toMatchObject({ bySimulation: { hard: 3 } });
    const replay = (body: object) => office.post("staff", `${BASE}/hard/dlq/replay`, body);
    const dry = await replay({ dryRun: true, strategy: "oldest", perCategory: 2 });
    expect(dry).toMatchObject({ status: 200, body: { operation: null, count: 2 } });
    const real = await replay({ useFullRetry: true, reason: "the portal is mended" });
    expect(real).toMatchObject({ status: 200, body: { count: 3 } });
    const created = async () => (await ask("hard/metrics")).counters["records_created"] as number;
    await expect.poll(created, WAIT).toBe(3);
    const more: number[] = [];
    for (let calls = 0; calls < 4; calls += 1) more.push((await replay({ dryRun: true })).status);
    expect(more.at(-1)).toBe(429);
    const audit = async () => JSON.stringify((await office.get("admin", "/api/v1/audit")).body);
    await expect.poll(audit, WAIT).toContain("the portal is mended");
  });

  it("is planned, started, paused, resumed and aborted by staff, and turned by admins alone", async () => {
    const plan = { id: "slow", records: 10, durationMs: 3_600_000 };
    const move = async (how: string) =>
      (await office.post("staff", `${BASE}/slow/${how}`, { reason: "a test" })).body
        .status as string;
    expect((await office.post("staff", BASE, plan)).body).toMatchObject({ status: "created" });
    const moves = [await move("start"), await move("pause"), await move("resume")];
    expect(moves).toEqual(["running", "paused", "running"]);
    const text = String((await office.get("viewer", "/metrics")).body);
    expect(text).toContain('holdfast_simulation_records{simulation="slow",state="planned"} 10');
    const knobs = { winRate: 0.9, budgets: { note: 5 } };
    const put = (who: "staff" | "admin", body: object) =>
      office.send(who, "PUT", `${BASE}/slow/config`, body);
    expect((await put("staff", knobs)).status).toBe(403);
    expect((await put("admin", { winrate: 1 })).status).toBe(422);
    expect((await put("admin", knobs)).body).toMatchObject({ params: { winRate: 0.9 } });
    const cleared = await office.send("admin", "DELETE", `${BASE}/slow/config`);
    expect(cleared.body).toMatchObject({ overrides: {}, params: { winRate: 0.25 } });
    expect(await move("abort")).toBe("aborted");
    expect((await office.post("staff", `${BASE}/slow/start`)).status).toBe(409);
    const { body: health } = await office.get("viewer", "/api/health");
    expect(health).toMatchObject({ store: { ok: true }, circuit: { "pacing:outbound": "closed" } });
    expect(health.rateLimiter).toHaveProperty(["hubspot.calls"]);
    expect(health.queues).toHaveProperty(["simulation-jobs:0"]);
  });

  it("refuses roles too low, people of one company, tokens that are none and plans that do not fit", async () => {
    const plan = { records: 1, durationMs: 1_000 };
    const scenario = { probabilities: { note: 7 } };
    const asked: [number, ReturnType<Office["send"]>][] = [
      [401, office.ask("GET", BASE)],
      [401, office.ask("POST", BASE, { body: plan, token: "nonsense" })],
      [403, office.post("viewer", BASE, plan)],
      // What they may not see is not there.
      [404, office.post("owner", BASE, plan)],
      [404, office.get("owner", BASE)],
      [403, office.post("viewer", `${BASE}/spring/dlq/replay`)],
      [404, office.get("viewer", `${BASE}/none`)],
      [404, office.get("viewer", `${BASE}/none/metrics2`)],
      [422, office.post("staff", BASE, {})],
      [422, office.post("staff", BASE, { ...plan, scenario })],
      [422, office.post("staff", BASE, { ...plan, id: "../x" })],
      [422, office.post("staff", BASE, { ...plan, record: 1 })],
      [409, office.post("staff", BASE, { ...plan, id: "spring" })],
    ];
    const got = await Promise.all(asked.map(async ([, answer]) => (await answer).status));
    expect(got).toEqual(asked.map(([code]) => code));
  });
}
