import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  defineJob,
  JobCancelledError,
  PermanentError,
  RetryAfterError,
} from "../../packages/holdfast/src/index.ts";
import { openWorld, signal, STORES, type World } from "./world.ts";

describe.each(STORES)("ends on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  const settled = async (hf: ReturnType<World["process"]>["hf"], id: string) =>
    world.until(async () => !["queued", "processing"].includes((await hf.job(id))?.status ?? ""));

  it("a cancelled job that returns has succeeded", async () => {
    const { hf } = world.process();
    const started = signal();
    hf.define({
      type: "polite",
      run(job) {
        started.reach();
        return new Promise((resolve) => {
          job.signal.addEventListener("abort", () => resolve("finished anyway"));
        });
      },
    });
    const { id } = await hf.enqueue("polite", null);
    await hf.work();
    await started.reached;
    expect(await hf.cancel(id)).toBe("asked");
    await world.advance(3_500);
    await settled(hf, id);
    expect(await hf.job(id)).toMatchObject({ status: "succeeded", result: "finished anyway" });
  });

  it("a cancelled job that throws is cancelled", async () => {
    const { hf } = world.process();
    const started = signal();
    let reason: unknown;
    hf.define({
      type: "abrupt",
      run(job) {
        started.reach();
        return new Promise((_, reject) => {
          job.signal.addEventListener("abort", () => {
            reason = job.signal.reason;
            reject(new Error("stopped"));
          });
        });
      },
    });
    const { id } = await hf.enqueue("abrupt", null);
    await hf.work();
    await started.reached;
    await hf.cancel(id, { reason: "superseded", by: "ada" });
    await world.advance(3_500);
    await settled(hf, id);
    expect(reason).toBeInstanceOf(JobCancelledError);
    expect(await hf.job(id)).toMatchObject({ status: "cancelled", reason: "superseded" });
  });

  it("a cancelled job that dies with its worker is cancelled", async () => {
    const doomed = world.process();
    const started = signal();
    doomed.hf.handle("work", () => {
      started.reach();
      return new Promise(() => {});
    });
    const { id } = await doomed.hf.enqueue("work", null);
    await doomed.hf.work();
    await started.reached;
    await doomed.hf.cancel(id);
    doomed.kill();
    const other = world.process();
    other.hf.handle("work", () => "ran again");
    await other.hf.work();
    await world.advance(12_000);
    expect(await other.hf.job(id)).toMatchObject({ status: "cancelled" });
  });

  it("an intent counts even if it is not returned", async () => {
    const { hf } = world.process();
    hf.define({ type: "snoozes", run: (job) => void job.snooze(60_000) });
    hf.define({ type: "cancels", run: (job) => void job.cancel("no longer needed") });
    const snoozed = await hf.enqueue("snoozes", null);
    const cancelled = await hf.enqueue("cancels", null);
    await hf.work();
    await settled(hf, cancelled.id);
    expect(await hf.job(cancelled.id)).toMatchObject({
      status: "cancelled",
      reason: "no longer needed",
    });
    await world.until(async () => (await hf.job(snoozed.id))?.status === "queued");
    const job = await hf.job(snoozed.id);
    expect(job).toMatchObject({ status: "queued", attempts: 0 });
    expect(job!.runAt.getTime()).toBeGreaterThan(world.time.now + 50_000);
  });

  it("auth and validation errors are not tried again", async () => {
    const { hf } = world.process();
    const errors: Record<string, unknown> = {
      permanent: new PermanentError("never"),
      unauthorized: Object.assign(new Error("who are you"), { status: 401 }),
      scopes: Object.assign(new Error("no"), { code: "MISSING_SCOPES" }),
      unprocessable: Object.assign(new Error("bad row"), { response: { status: 422 } }),
      nofile: Object.assign(new Error("no such file"), { code: "ENOENT" }),
    };
    hf.define({
      type: "fails",
      run(job) {
        throw errors[job.payload as string];
      },
    });
    await hf.work();
    for (const which of Object.keys(errors)) {
      const { id } = await hf.enqueue("fails", which);
      await settled(hf, id);
      expect(await hf.job(id), which).toMatchObject({ status: "dead", attempts: 1 });
    }
  });

  it("an error's category follows its status, code and name", async () => {
    const { hf } = world.process();
    const errors: Record<string, unknown> = {
      rate_limit: Object.assign(new Error("slow down"), { code: "RATELIMIT_EXCEEDED" }),
      timeout: Object.assign(new Error("gateway"), { status: 504 }),
      network: new TypeError("fetch failed", {
        cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }),
      }),
      unknown: new Error("who knows"),
    };
    hf.define({
      type: "fails",
      run(job) {
        throw errors[job.payload as string];
      },
    });
    hf.define({
      type: "overridden",
      classify: () => "auth",
      run() {
        throw new Error("who knows");
      },
    });
    await hf.work();
    for (const category of Object.keys(errors)) {
      const { id } = await hf.enqueue("fails", category);
      await world.until(async () => ((await hf.job(id))?.history.length ?? 0) === 1);
      expect(await hf.job(id)).toMatchObject({ status: "queued", error: { category } });
    }
    const { id } = await hf.enqueue("overridden", null);
    await settled(hf, id);
    expect(await hf.job(id)).toMatchObject({ status: "dead", error: { category: "auth" } });
  });

  it("a named time is never undercut and spends no attempt", async () => {
    const { hf } = world.process();
    const starts: number[] = [];
    hf.define({
      type: "patient",
      retry: { maxAttempts: 1 },
      run() {
        // A store counts in whole milliseconds.
        starts.push(Math.floor(world.time.now));
        if (starts.length < 4) throw new RetryAfterError(30_000);
        return "at last";
      },
    });
    const { id } = await hf.enqueue("patient", null);
    await hf.work();
    await world.advance(100_000);
    expect(starts).toHaveLength(4);
    for (let at = 1; at < starts.length; at += 1) {
      expect(starts[at]! - starts[at - 1]!).toBeGreaterThanOrEqual(30_000);
    }
    expect(await hf.job(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  });

  it("patience ends after a hundred times", async () => {
    const { hf } = world.process();
    let runs = 0;
    hf.define({
      type: "endless",
      retry: { maxAttempts: 1 },
      run() {
        runs += 1;
        throw new RetryAfterError(0);
      },
    });
    const { id } = await hf.enqueue("endless", null);
    await hf.work();
    await settled(hf, id);
    expect(runs).toBe(101);
    expect(await hf.job(id)).toMatchObject({ status: "dead", reason: "failed", attempts: 1 });
    expect((await hf.job(id))!.history).toHaveLength(20);
  });

  it("a payload that fails its schema at run time is dead at once", async () => {
    const producer = world.process();
    const { id } = await producer.hf.enqueue("strict", { to: 7 }, { queue: "default" });
    const { hf } = world.process();
    hf.define({ type: "strict", payload: z.object({ to: z.string() }), run: () => "never" });
    await hf.work();
    await settled(hf, id);
    const job = await hf.job(id);
    expect(job).toMatchObject({ status: "dead", reason: "validation", attempts: 1 });
    expect(job!.error).toMatchObject({ category: "validation" });
    expect(job!.error!.message).toContain("to");
  });

  it("a job of an unknown type is handed back unspent", async () => {
    const { hf, said } = world.process();
    hf.define({ type: "known", run: () => "ran" });
    const { id } = await hf.enqueue("unknown", null, { queue: "default" });
    await hf.work();
    await world.advance(4_000);
    const first = await hf.job(id);
    expect(first).toMatchObject({ status: "queued", attempts: 0, history: [] });
    await world.advance(80_000);
    const later = await hf.job(id);
    expect(later).toMatchObject({ status: "queued", attempts: 0 });
    expect(later!.runAt.getTime() - world.time.now).toBeLessThanOrEqual(60_000);
    const reports = said.filter((line) => line.includes('no handler for type "unknown"'));
    expect(reports.length).toBeGreaterThanOrEqual(1);
    expect(reports.length).toBeLessThanOrEqual(2);
    hf.handle("unknown", () => "known at last");
    await world.advance(61_000);
    expect(await hf.job(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  });

  it("failed comes with every failure and dead once", async () => {
    const { hf } = world.process();
    const told: string[] = [];
    hf.on("failed", ({ attempt, willRetry }) => told.push(`failed ${attempt} ${willRetry}`));
    hf.on("dead", ({ reason }) => told.push(`dead ${reason}`));
    hf.define({
      type: "fails",
      retry: { maxAttempts: 3, delaysMs: [10] },
      run() {
        throw new Error("no");
      },
    });
    await hf.enqueue("fails", null);
    await hf.work();
    await world.advance(1_000);
    expect(told).toEqual(["failed 1 true", "failed 2 true", "failed 3 false", "dead failed"]);
  });

  it("a timeout aborts the signal and spends the attempt", async () => {
    const { hf } = world.process();
    const slow = defineJob({ type: "slow", timeoutMs: 90_000, retry: { maxAttempts: 1 } });
    hf.handle(slow, (job) => {
      return new Promise((_, reject) => {
        job.signal.addEventListener("abort", () => reject(new Error("aborted")));
      });
    });
    const { id } = await hf.enqueue(slow, null);
    await hf.work();
    await world.advance(89_000);
    expect((await hf.job(id))?.status).toBe("processing");
    await world.advance(1_500);
    expect(await hf.job(id)).toMatchObject({
      status: "dead",
      attempts: 1,
      error: { category: "timeout" },
    });
  });

  it("a dead job that is retried keeps its id and history", async () => {
    const { hf } = world.process();
    let broken = true;
    hf.define({
      type: "fixable",
      retry: { maxAttempts: 1 },
      run() {
        if (broken) throw new Error("broken");
        return "fixed";
      },
    });
    const { id } = await hf.enqueue("fixable", null);
    await hf.work();
    await settled(hf, id);
    broken = false;
    await hf.retry(id, { by: "ada" });
    await settled(hf, id);
    expect(await hf.job(id)).toMatchObject({
      status: "succeeded",
      attempts: 2,
      maxAttempts: 2,
      history: [{ outcome: "failed" }, { outcome: "succeeded" }],
    });
  });
});
