/** Every route over real HTTP: all of them on SQLite and PostgreSQL, the most used on Redis and MongoDB. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PermanentError } from "holdfast";
import { deadJob, serve, STORE_NAMES, type Served } from "./served.ts";

describe.each(STORE_NAMES)("routes on %s", (name) => {
  let served: Served;

  beforeAll(async () => {
    served = await serve(name, { enqueue: "any" });
    const { hf } = served;
    hf.define({ type: "mail.send", queue: "mail", run: async () => "sent" });
    hf.define({
      ...{ type: "mail.fail", queue: "mail", retry: { maxAttempts: 1 } },
      run: () => Promise.reject(new PermanentError("no route to Bearer abcdef.12345 today")),
    });
    await hf.work({ queues: ["mail"], concurrency: 2 });
  });
  afterAll(() => served?.close());

  it("a job is enqueued, found, looked at and done", async () => {
    const { call, data, hf } = served;
    const body = { type: "mail.send", payload: { to: "ada", password: "hunter2" } };
    const made = await call("POST", "/api/v1/jobs", { body: { ...body, idempotencyKey: "one" } });
    expect(made.status).toBe(201);
    const again = await call("POST", "/api/v1/jobs", { body: { ...body, idempotencyKey: "one" } });
    expect(again.status).toBe(200);
    expect(again.json.data).toMatchObject({ id: made.json.data.id, status: "duplicate" });
    const other = { ...body, payload: { to: "bob" }, idempotencyKey: "one" };
    const conflict = await call("POST", "/api/v1/jobs", { body: other });
    expect(conflict.status).toBe(409);
    expect(conflict.json).toMatchObject({
      success: false,
      error: { code: "idempotency_conflict" },
    });
    const { id } = made.json.data;
    await hf.waitFor(id, { timeoutMs: 20_000 });
    expect(await data("GET", `/api/v1/jobs/${id}`)).toMatchObject({
      ...{ id, status: "succeeded", result: "sent" },
      payload: { to: "ada", password: "[REDACTED]" },
    });
    const revealed = await data("POST", `/api/v1/jobs/${id}/reveal`, {
      body: { reason: "ticket 7" },
    });
    expect(revealed.payload).toEqual({ to: "ada", password: "hunter2" });
    const listed = await data("GET", "/api/v1/jobs?queue=mail&status=completed");
    expect(listed.items.map((job: { id: string }) => job.id)).toContain(id);
    const byPrefix = await data("GET", `/api/v1/jobs?id=${id.slice(0, 13)}`);
    const withoutDashes = id.replaceAll("-", "").slice(0, 20).toUpperCase();
    expect(await data("GET", `/api/v1/jobs?id=${withoutDashes}`)).toEqual(byPrefix);
    expect(byPrefix.items.map((job: { id: string }) => job.id)).toContain(id);
    expect((await call("GET", "/api/v1/jobs/none")).status).toBe(404);
  });

  it("a batch has an answer for each item", async () => {
    const items = [
      { type: "mail.send", payload: 1 },
      { type: "mail.send", payload: 2 },
      { type: "x.y" },
    ];
    const { status, json } = await served.call("POST", "/api/v1/jobs", { body: { items } });
    expect(status).toBe(201);
    expect(json.data.items.map((one: { status: string }) => one.status)).toEqual([
      ...["added", "added", "refused"],
    ]);
    expect(json.data.items[2].error.code).toBe("unknown_type");
  });

  it("a dead letter is found by its fault, replayed, and dies again", async () => {
    const { data, call, hf } = served;
    const id = await deadJob(hf, "mail.fail", { n: 1 });
    const { items } = await data("GET", "/api/v1/dead-letters?queue=mail&text=NO+ROUTE");
    expect(items).toMatchObject([{ id, status: "dead", error: { category: "unknown" } }]);
    expect(items[0].error.message).not.toContain("abcdef");
    const groups = await data("GET", "/api/v1/dead-letters/groups?queue=mail");
    expect(groups.items).toMatchObject([{ count: 1, type: "mail.fail", state: "open" }]);
    expect(await data("GET", "/api/v1/dead-letters/summary")).toMatchObject({ total: 1 });
    const plan = await data("POST", "/api/v1/dead-letters/plan", { body: { queue: "mail" } });
    expect(plan).toMatchObject({ count: 1, action: "retry" });
    const body = { queue: "mail", reason: "smtp is back", limit: 10 };
    const replay = await call("POST", "/api/v1/dead-letters/replay", { body });
    expect(replay.status).toBe(201);
    const operation = replay.json.data.operation.id as string;
    const look = () => data("GET", `/api/v1/operations/${operation}`);
    await expect.poll(look, { timeout: 20_000 }).toMatchObject({ state: "finished", done: 1 });
    expect((await call("POST", `/api/v1/operations/${operation}/pause`)).status).toBe(409);
    const failures = await data("GET", "/api/v1/failures?type=mail.fail&final=true");
    expect(failures.items[0]).toMatchObject({ jobId: id, final: true });
    expect(failures.items[0].message).not.toContain("abcdef");
  });

  it("queues are paused, limited and resumed, and groups of them", async () => {
    const { data, call } = served;
    const pause = { reason: "provider down" };
    await data("POST", "/api/v1/queues/mail/pause", { body: pause });
    expect(await data("GET", "/api/v1/queues/mail")).toMatchObject({
      ...{ queue: "mail", holds: [{ owner: "pause", reason: "provider down", by: "admin token" }] },
    });
    await data("POST", "/api/v1/queues/mail/resume");
    await data("PATCH", "/api/v1/queues/mail/limits", { body: { maxActive: 5 } });
    await data("POST", "/api/v1/queues/mail/groups/tenant-7/pause", { body: { forMs: 60_000 } });
    await data("PATCH", "/api/v1/queues/mail/groups/tenant-7/limits", { body: { weight: 3 } });
    const lines = await data("GET", "/api/v1/queues/mail/lines");
    expect(lines.items).toMatchObject([{ group: "tenant-7", weight: 3 }]);
    await data("POST", "/api/v1/queues/mail/groups/tenant-7/resume");
    const settings = { keep: { dead: null, succeeded: { maxAgeMs: 1000 } }, maxWaiting: 500 };
    await data("PATCH", "/api/v1/queues/mail/settings", { body: settings });
    expect(await data("GET", "/api/v1/queues/mail")).toMatchObject({
      ...{ maxActive: 5, maxWaiting: 500, keep: { dead: null }, holds: [] },
    });
    await data("PATCH", "/api/v1/queues/mail/settings", { body: { keep: null, maxWaiting: null } });
    const queues = await data("GET", "/api/v1/queues");
    expect(queues.items).toMatchObject([{ queue: "mail", dead: 1 }]);
    expect((await call("GET", "/api/v1/queues/none")).status).toBe(404);
  });

  it("the audit names who did it, from where and in which role", async () => {
    const { data } = served;
    const operator = await served.token("operator");
    await data("POST", "/api/v1/queues/mail/resume", { token: operator });
    const { items } = await data("GET", "/api/v1/audit?limit=200");
    const actions = items.map(({ action }: { action: string }) => action);
    expect(actions).toEqual(expect.arrayContaining(["pause", "resume", "limit", "set queue"]));
    expect(actions).toEqual(expect.arrayContaining(["create token", "reveal job", "enqueue"]));
    const resumed = items.find(({ action }: { action: string }) => action === "resume");
    expect(resumed).toMatchObject({
      ...{ by: expect.stringMatching(/^token [0-9a-f]{12} \(operator\)$/), queue: "mail" },
      details: { via: { role: "operator", address: "127.0.0.1" } },
    });
    expect((await served.call("GET", "/api/v1/audit", { token: operator })).status).toBe(403);
  });

  it("the overview, workers and types show the fleet", async () => {
    const { data } = served;
    await expect
      .poll(() => data("GET", "/api/v1/overview"), { timeout: 20_000, interval: 500 })
      .toMatchObject({ workers: { count: 1, slots: 2 }, totals: { dead: 1 } });
    const { items } = await data("GET", "/api/v1/workers");
    expect(items).toMatchObject([{ queues: ["mail"], slots: 2, isQuiet: false }]);
    const worker = encodeURIComponent(items[0].id);
    await data("POST", `/api/v1/workers/${worker}/quiet`, { body: { reason: "look at it" } });
    await data("POST", `/api/v1/workers/${worker}/resume`);
    const types = await data("GET", "/api/v1/types");
    expect(types.items).toMatchObject([
      { type: "mail.send", queue: "mail", isHandled: true, mayEnqueue: true },
      { type: "mail.fail", maxAttempts: 1 },
    ]);
    const doctor = await data("GET", "/api/v1/doctor");
    expect(doctor.items.every(({ level }: { level: string }) => level !== "problem")).toBe(true);
  });

  it("a job is cancelled, retried and removed, and refuses what it cannot", async () => {
    const { data, call } = served;
    const body = { type: "mail.send", delayMs: 3_600_000, payload: {} };
    const { id } = await data("POST", "/api/v1/jobs", { body });
    const at = (verb: string) => `/api/v1/jobs/${id}/${verb}`;
    expect((await call("POST", at("retry"))).status).toBe(409);
    expect(await data("POST", at("cancel"), { body: { reason: "no" } })).toEqual({
      result: "cancelled",
    });
    expect(
      await data("POST", at("retry"), { body: { delayMs: 3_600_000, payload: { n: 2 } } }),
    ).toEqual({
      result: "retried",
    });
    expect(await data("GET", `/api/v1/jobs/${id}`)).toMatchObject({
      status: "queued",
      payload: { n: 2 },
    });
    expect(await data("DELETE", `/api/v1/jobs/${id}?reason=over`)).toEqual({ result: "removed" });
    expect((await call("DELETE", `/api/v1/jobs/${id}`)).status).toBe(404);
  });

  it("a plan is looked at first and then started as it stands", async () => {
    const { data, call } = served;
    const body = { type: "mail.send", delayMs: 3_600_000, tags: ["beta"], payload: {} };
    await data("POST", "/api/v1/jobs", { body: { items: [body, body, body] } });
    const plan = { action: "cancel", filter: { queue: "mail", tag: "beta" } };
    const planned = await data("POST", "/api/v1/operations", { body: plan });
    expect(planned).toMatchObject({ plan: { count: 3 }, operation: null });
    const { id } = planned.plan;
    expect((await call("POST", `/api/v1/operations/${id}/start`, { body: {} })).status).toBe(422);
    await data("POST", `/api/v1/operations/${id}/start`, { body: { reason: "beta is over" } });
    const look = () => data("GET", `/api/v1/operations/${id}`);
    await expect.poll(look, { timeout: 20_000 }).toMatchObject({ state: "finished", done: 3 });
    const { items } = await data("GET", "/api/v1/operations");
    expect(items[0]).toMatchObject({ id, by: "admin token", reason: "beta is over" });
    expect((await call("GET", "/api/v1/operations/none")).status).toBe(404);
  });

  it("presets and decisions about faults are kept, and nothing is asked for beside a preset", async () => {
    const { data, call } = served;
    const preset = { category: "unknown", strategy: "oldest", limit: 500 };
    await data("PUT", "/api/v1/dead-letters/presets/nightly", { body: preset });
    expect(await data("GET", "/api/v1/dead-letters/presets")).toMatchObject({
      items: [{ name: "nightly", options: preset }],
    });
    expect((await data("GET", "/api/v1/dead-letters/presets/nightly")).options).toEqual(preset);
    const replay = { preset: "nightly", dryRun: true };
    await data("POST", "/api/v1/dead-letters/replay", { body: replay });
    const body = { ...replay, limit: 1, queue: "mail" };
    const refused = await call("POST", "/api/v1/dead-letters/replay", { body });
    expect(refused.status).toBe(422);
    expect(refused.json.error.errors).toMatchObject([
      { path: "body.queue" },
      { path: "body.limit" },
    ]);
    await data("DELETE", "/api/v1/dead-letters/presets/nightly");
    expect((await call("GET", "/api/v1/dead-letters/presets/nightly")).status).toBe(404);
    expect((await call("DELETE", "/api/v1/dead-letters/presets/nightly")).status).toBe(404);
    const { items } = await data("GET", "/api/v1/dead-letters/groups?queue=mail");
    const fault = `/api/v1/dead-letters/groups/${encodeURIComponent(items[0].fingerprint)}`;
    await data("POST", `${fault}/ignore`, { body: { untilPerHour: 100 } });
    expect((await data("GET", "/api/v1/dead-letters/groups?queue=mail")).items).toEqual([]);
    await data("POST", `${fault}/reopen`);
    await data("POST", `${fault}/resolve`, { body: { reason: "mended" } });
    const all = await data("GET", "/api/v1/dead-letters/groups?queue=mail&all=true");
    expect(all.items).toMatchObject([{ state: "resolved" }]);
    for (const decision of ["resolve", "ignore", "reopen"]) {
      const unknown = await call("POST", `/api/v1/dead-letters/groups/nobody-has-it/${decision}`);
      expect(unknown.status).toBe(404);
    }
    expect(await data("POST", "/api/v1/failures/prune")).toEqual({ pruned: 0 });
  });

  it("health, readiness and metrics answer", async () => {
    const { call } = served;
    expect((await call("GET", "/healthz", { token: null })).status).toBe(200);
    expect((await call("GET", "/readyz", { token: null })).json.data).toEqual({
      ...{ ok: true, store: true, workers: true },
    });
    const { text } = await call("GET", "/metrics");
    expect(text).toContain('holdfast_jobs{queue="mail",state="dead"} 1\n');
    expect(text).toContain("holdfast_store_up 1\n");
  });
});
