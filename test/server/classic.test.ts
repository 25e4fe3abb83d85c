/** The endpoints of the systems that users come from answer in their own words. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { classic } from "@holdfast/server/classic";
import { serve, type Served } from "./served.ts";

describe("classic routes", () => {
  let served: Served;

  beforeAll(async () => {
    const mounts = [classic({ queue: "ai-cfo-jobs", anonymous: "operator" })];
    served = await serve("sqlite", { enqueue: "any", mounts });
    const { hf } = served;
    hf.define({ type: "test.job", queue: "ai-cfo-jobs", run: async () => "done" });
    hf.define({
      ...{
        type: "generateAIInsights",
        queue: "ai-cfo-jobs",
        retry: { maxAttempts: 2, baseMs: 1, jitter: 0 },
      },
      run: () => Promise.reject(new Error("model is away")),
    });
    await hf.work();
    const { id } = await hf.enqueue("generateAIInsights" as never, { apiKey: "x" } as never);
    await hf.waitFor(id);
  });
  afterAll(() => served?.close());

  const anyone = { token: null };

  it("system 1: health has its fields exactly", async () => {
    expect(await served.data("GET", "/api/admin/queue/health")).toEqual({
      ...{ queueName: "ai-cfo-jobs", resilientMode: false, oldestWaitingAgeSec: null },
      counts: { waiting: 0, active: 0, delayed: 0, failed: 1, completed: 0 },
      ...{ failedLastHour: 2, topFailedJobs: [{ jobName: "generateAIInsights", count: 2 }] },
      dlq: { failedLastHour: 2, failedLast24h: 2, retentionDays: 14 },
    });
    const other = await served.data("GET", "/api/admin/queue/health?queue=other");
    expect(other).toMatchObject({ queueName: "other", counts: { failed: 0 }, failedLastHour: 0 });
  });

  it("system 1: a final failure is retried once, any other is 409", async () => {
    const failures = await served.data(
      "GET",
      "/api/admin/queue/failures?limit=10&jobName=generateAIInsights",
    );
    expect(failures).toMatchObject([
      { attempts: 2, maxAttempts: 2, isFinalAttempt: true, failedReason: "model is away" },
      { attempts: 1, isFinalAttempt: false, payload: { apiKey: "[REDACTED]" }, resolvedAt: null },
    ]);
    const retry = (failureId: string) =>
      served.call("POST", "/api/admin/queue/retry", { body: { failureId } });
    expect((await retry(failures[1].id)).json.error.code).toBe("not_final");
    expect((await retry("none")).status).toBe(404);
    expect((await retry(failures[0].id)).json.data).toEqual({
      jobId: failures[0].jobId,
      retried: true,
    });
    expect((await retry(failures[0].id)).json.error.code).toBe("already_resolved");
    await served.hf.waitFor(failures[0].jobId);
    const [newest] = await served.data("GET", "/api/admin/queue/failures?limit=1");
    await served.hf.remove(newest.jobId);
    expect((await retry(newest.id)).json.error.code).toBe("job_gone");
    expect(await served.data("POST", "/api/admin/queue/prune")).toEqual({ pruned: 0 });
    expect((await served.call("GET", "/api/admin/queue/health", anyone)).status).toBe(403);
  });

  it.each(["/queue", "/api/v1/queue"])(
    "systems 2 and 5: %s enqueues, shows and lists",
    async (base) => {
      const body = { type: "test.job", payload: { data: base } };
      const made = await served.call("POST", `${base}/enqueue`, { ...anyone, body });
      expect(made).toMatchObject({
        status: 201,
        json: { type: "test.job", error: null },
      });
      await served.hf.waitFor(made.json._id);
      const seen = await served.call("GET", `${base}/${made.json._id}`, anyone);
      expect(seen.json).toMatchObject({ _id: made.json._id, status: "succeeded", attempts: 1 });
      expect((await served.call("POST", `${base}/enqueue`, { ...anyone, body })).status).toBe(409);
      const again = { ...anyone, body: { ...body, dedupe: false } };
      expect((await served.call("POST", `${base}/enqueue`, again)).status).toBe(201);
      const listed = await served.call(
        "GET",
        `${base}?status=succeeded&type=test.job&limit=5`,
        anyone,
      );
      expect(listed.json.map(({ _id }: { _id: string }) => _id)).toContain(made.json._id);
      expect((await served.call("GET", `${base}/none`, anyone)).status).toBe(404);
    },
  );

  it("system 5: failed ones are dead and cancelled ones, and the dead letters are listed", async () => {
    const { id } = await served.hf.enqueue("generateAIInsights" as never, { n: 2 } as never);
    await served.hf.waitFor(id);
    const cancelled = await served.hf.enqueue("test.job" as never, {} as never, {
      delayMs: 60_000,
    });
    await served.hf.cancel(cancelled.id);
    const ids = async (path: string) =>
      (await served.call("GET", path, anyone)).json
        .map(({ _id }: { _id: string }) => _id)
        .toSorted();
    expect(await ids("/api/v1/queue?status=failed")).toEqual([id, cancelled.id].toSorted());
    expect(await ids("/api/v1/queue/dead-letter")).toEqual([id]);
  });

  it("systems 3 and 4: health, summary, stats and monitor", async () => {
    const health = await served.call("GET", "/api/health");
    expect(health.json).toMatchObject({ store: { name: "sqlite", ok: true }, cooldownUntil: null });
    const summary = await served.call("GET", "/api/dlq/summary");
    expect(summary.json).toEqual({ total: 1, byCategory: { unknown: 1 }, bySimulation: {} });
    const stats = await served.call("GET", "/api/queue/stats");
    expect(stats.json).toMatchObject({ pending: 0, processing: 0, failed: 0, dead: 1 });
    const other = await served.call("GET", "/api/queue/stats?queue=elsewhere");
    expect(other.json).toMatchObject({ dead: 0, completed: 0 });
    const monitor = await served.call("GET", "/api/queue/monitor");
    expect(monitor.json).toMatchObject({ counts: { pending: 0 }, failed: [], queueLagMs: null });
    expect(monitor.json.averageProcessingMs).toBeGreaterThanOrEqual(0);
  });

  it("callers without a token are known on this machine only, and not through a proxy or another name", async () => {
    const forwarded = { token: null, headers: { "x-forwarded-for": "203.0.113.7" } };
    expect((await served.call("GET", "/queue", forwarded)).status).toBe(401);
    expect((await served.call("GET", "/api/v1/jobs", anyone)).status).toBe(401);
    const bent = new Request("http://evil.example/queue");
    expect((await served.server.fetch(bent)).status).toBe(401);
    const off = await serve("sqlite", { mounts: [classic()] });
    expect((await off.call("GET", "/queue", anyone)).status).toBe(401);
    expect((await off.call("GET", "/queue")).status).toBe(200);
    await off.close();
  });
});
