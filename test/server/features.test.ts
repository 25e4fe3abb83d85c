/** Routes of what stands on the engine: locks, schedules, gates, statistics, alerts, erasing. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve, type Served } from "./served.ts";

describe("routes of what stands on the engine", () => {
  let served: Served;

  beforeAll(async () => {
    served = await serve("sqlite");
    served.hf.define({
      ...{ type: "report.make", queue: "reports", run: async () => "made" },
      lock: { key: "monthly", scope: (payload) => (payload as { month: string }).month },
    });
    await served.hf.work({ queues: ["reports"] });
  });
  afterAll(() => served?.close());

  it("locks are listed and released", async () => {
    const { id } = await served.hf.enqueue("report.make", { month: "2026-10" });
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
    const stats = await served.data("GET", "/api/v1/stats?queue=reports&lastMs=3600000");
    expect(stats).toMatchObject({ source: "store", failedLastHour: 0 });
    expect(await served.data("GET", "/api/v1/alerts")).toEqual({ items: [], nextCursor: null });
    const waits = { delayMs: 60_000 };
    const { id } = await served.hf.enqueue("report.make", { month: "y" }, waits);
    const why = await served.data("GET", `/api/v1/jobs/${id}/why`);
    expect(why.reasons.length).toBeGreaterThan(0);
  });

  it("a scope sees of a worker what is in it", async () => {
    const { hf } = served;
    hf.define({ type: "wages.pay", queue: "wages", run: async () => null });
    const worker = await hf.work({ queues: ["reports", "wages"] });
    const token = await served.token("viewer", ["reports"]);
    const look = async () => (await served.data("GET", "/api/v1/workers", { token })).items;
    await expect
      .poll(async () => (await look()).map(({ id }: { id: string }) => id))
      .toContain(worker.id);
    for (const { id, queues, types } of await look()) {
      expect(queues).toEqual(["reports"]);
      if (id === worker.id) expect(types).toEqual([]);
    }
    await worker.stop();
  });

  it("a tenant is erased by an operation, with a reason", async () => {
    const body = { group: "tenant-7", reason: "asked for" };
    expect((await served.call("POST", "/api/v1/erase", { body: { group: "x" } })).status).toBe(422);
    const operation = await served.data("POST", "/api/v1/erase", { body });
    expect(operation).toMatchObject({ action: "erase", reason: "asked for" });
  });
});
