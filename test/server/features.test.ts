/**
 * Routes of what newer versions of the library have: locks, schedules, gates, statistics, alerts, erasing. With a
 * version that has one, it works; with an older one, its routes say what is missing.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve, type Served } from "./served.ts";

describe("routes of newer features", () => {
  let served: Served;
  const has = (name: string) =>
    (served.hf as unknown as Record<string, unknown>)[name] !== undefined;

  beforeAll(async () => {
    served = await serve("sqlite");
    const locked = {
      lock: { key: "monthly", scope: (payload: { month: string }) => payload.month },
    };
    served.hf.define({
      ...{ type: "report.make", queue: "reports", run: async () => "made" },
      ...(has("locks") && locked),
    } as never);
    await served.hf.work({ queues: ["reports"] });
  });
  afterAll(() => served?.close());

  /** True if it is there; otherwise its routes have said that it is not. */
  async function isThere(
    name: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<boolean> {
    if (has(name)) return true;
    const { status, json } = await served.call(method, path, body === undefined ? {} : { body });
    expect([status, json.error.code]).toEqual([501, "unsupported"]);
    expect(json.error.message).toContain(name);
    return false;
  }

  it("locks are listed and released", async () => {
    if (!(await isThere("locks", "GET", "/api/v1/locks"))) return;
    const { id } = await served.hf.enqueue("report.make" as never, { month: "2026-10" } as never);
    await served.hf.waitFor(id);
    const look = async () => (await served.data("GET", "/api/v1/locks?key=monthly")).items;
    await expect.poll(look).toMatchObject([{ state: "completed", scope: "2026-10", jobId: id }]);
    const [lock] = await look();
    await served.data("DELETE", `/api/v1/locks/${encodeURIComponent(lock.id)}?reason=again`);
    expect(await look()).toEqual([]);
    expect((await served.call("DELETE", "/api/v1/locks/none")).status).toBe(404);
  });

  it("schedules are made, looked at, run, paused and removed", async () => {
    const rule = { cron: "0 9 * * 1", timeZone: "Europe/Berlin" };
    if (!(await isThere("schedules", "POST", "/api/v1/schedules/preview", rule))) return;
    const { next } = await served.data("POST", "/api/v1/schedules/preview", { body: rule });
    expect(next).toHaveLength(5);
    const at = "/api/v1/schedules/weekly";
    const body = { ...rule, job: { type: "report.make", payload: { month: "x" } }, reason: "new" };
    await served.data("PUT", at, { body });
    expect(await served.data("GET", at)).toMatchObject({
      name: "weekly",
      enabled: true,
      cron: rule.cron,
    });
    await served.data("POST", `${at}/pause`, { body: { reason: "holidays" } });
    expect((await served.data("GET", "/api/v1/schedules")).items).toMatchObject([
      { enabled: false },
    ]);
    await served.data("POST", `${at}/resume`);
    const { id } = await served.data("POST", `${at}/run`);
    await served.hf.waitFor(id);
    expect((await served.data("GET", `${at}/runs`)).items).toMatchObject([
      { job: id, isManual: true },
    ]);
    await served.data("DELETE", `${at}?reason=over`);
    expect((await served.call("GET", at)).status).toBe(404);
    expect((await served.call("PUT", at, { body: { ...body, cron: "nonsense" } })).status).toBe(
      422,
    );
  });

  it("gates are made, listed, forced and removed", async () => {
    const body = { queue: "reports", rate: { limit: 100, perMs: 1_000 }, cooldown: true };
    if (!(await isThere("gates", "PUT", "/api/v1/gates/reports", body))) return;
    await served.data("PUT", "/api/v1/gates/reports", { body });
    expect((await served.data("GET", "/api/v1/gates")).items).toMatchObject([{ name: "reports" }]);
    const force = { state: "open", reason: "provider is down" };
    await served.data("POST", "/api/v1/gates/reports/force", { body: force });
    expect((await served.data("GET", "/api/v1/gates")).items).toMatchObject([{ state: "open" }]);
    await served.data("POST", "/api/v1/gates/reports/force", { body: { state: "auto" } });
    await served.data("DELETE", "/api/v1/gates/reports");
    expect((await served.call("DELETE", "/api/v1/gates/reports")).status).toBe(404);
  });

  it("statistics, alerts, and why a job waits are shown", async () => {
    if (await isThere("stats", "GET", "/api/v1/stats")) {
      const stats = await served.data("GET", "/api/v1/stats?queue=reports&lastMs=3600000");
      expect(stats).toMatchObject({ source: "store", failedLastHour: 0 });
    }
    if (await isThere("alerts", "GET", "/api/v1/alerts")) {
      expect(await served.data("GET", "/api/v1/alerts")).toEqual({ items: [], nextCursor: null });
    }
    const waits = { delayMs: 60_000 };
    const { id } = await served.hf.enqueue("report.make" as never, { month: "y" } as never, waits);
    if (await isThere("why", "GET", `/api/v1/jobs/${id}/why`)) {
      const why = await served.data("GET", `/api/v1/jobs/${id}/why`);
      expect(why.reasons.length).toBeGreaterThan(0);
    }
  });

  it("a tenant is erased by an operation, with a reason", async () => {
    const body = { group: "tenant-7", reason: "asked for" };
    if (!(await isThere("erase", "POST", "/api/v1/erase", body))) return;
    expect((await served.call("POST", "/api/v1/erase", { body: { group: "x" } })).status).toBe(422);
    const operation = await served.data("POST", "/api/v1/erase", { body });
    expect(operation).toMatchObject({ action: "erase", reason: "asked for" });
  });
});
