import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineJob, SpawnLimitError, StepError } from "../../packages/holdfast/src/index.ts";
import { openWorld, signal, STORES, type World } from "./world.ts";

describe.each(STORES)("what a job carries on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  const ends = async (hf: ReturnType<World["process"]>["hf"], id: string) => {
    await world.until(
      async () => !["queued", "processing"].includes((await hf.job(id))?.status ?? ""),
    );
    return (await hf.job(id))!;
  };

  it("spawned jobs exist exactly if their parent succeeded", async () => {
    const { hf } = world.process();
    hf.define({
      type: "parent",
      retry: { maxAttempts: 1 },
      async run(job) {
        await job.spawn("child", { of: job.payload }, { queue: "children" });
        await job.spawn("child", { of: job.payload }, { queue: "default" });
        if (job.payload === "fails") throw new Error("no");
      },
    });
    const good = await hf.enqueue("parent", "succeeds");
    const bad = await hf.enqueue("parent", "fails");
    await hf.work({ queues: ["default"] });
    expect((await ends(hf, good.id)).status).toBe("succeeded");
    expect((await ends(hf, bad.id)).status).toBe("dead");
    await world.advance(3_000);
    const { jobs } = await hf.jobs({ type: "child" });
    expect(jobs.map(({ payload }) => payload)).toEqual([{ of: "succeeds" }, { of: "succeeds" }]);
    expect(jobs.map(({ queue }) => queue).sort()).toEqual(["children", "default"]);
  });

  it("a job tells who spawned it, its schedule's tick, and who retried it", async () => {
    const { hf } = world.process();
    hf.define({
      type: "parent",
      async run(job) {
        await job.spawn("child", null, { queue: "default", meta: { own: 1 } });
      },
    });
    let hasFailed = false;
    hf.define({
      type: "child",
      retry: { maxAttempts: 1 },
      run(job) {
        expect(job.meta).toEqual({ own: 1 });
        if (hasFailed) return;
        hasFailed = true;
        throw new Error("once");
      },
    });
    const parent = await hf.enqueue("parent", null);
    await hf.work();
    await ends(hf, parent.id);
    await world.until(
      async () => (await hf.jobs({ type: "child", status: "dead" })).jobs.length > 0,
    );
    const [child] = (await hf.jobs({ type: "child" })).jobs;
    const none = { spawnedBy: null, schedule: null, changedBy: null };
    expect((await hf.job(parent.id))?.lineage).toEqual(none);
    expect(await hf.job(child!.id)).toMatchObject({
      ...{ meta: { own: 1 }, lineage: { ...none, spawnedBy: parent.id } },
    });
    const plan = await hf.deadLetters.plan({ type: "child" });
    const { id: operation } = await plan.start({ by: "ann", reason: "to see it" });
    await world.advance(3_000);
    expect((await ends(hf, child!.id)).status).toBe("succeeded");
    expect((await hf.job(child!.id))?.lineage).toEqual({
      ...none,
      ...{ spawnedBy: parent.id, changedBy: { by: "ann", operation } },
    });
    await hf.schedules.set("daily", {
      everyMs: 86_400_000,
      job: { type: "parent", payload: null },
    });
    const { id } = await hf.schedules.runNow("daily");
    expect((await ends(hf, id)).lineage).toMatchObject({
      schedule: { name: "daily", tick: expect.any(Date) },
    });
  });

  it("a spawned duplicate is dropped and noted on its parent", async () => {
    const { hf } = world.process();
    hf.define({
      type: "parent",
      async run(job) {
        await job.spawn("child", 1, { queue: "default", idempotencyKey: "only" });
        await job.spawn("child", 1, { queue: "default", idempotencyKey: "only" });
      },
    });
    hf.define({ type: "child", run: () => {} });
    const { id } = await hf.enqueue("parent", null);
    await hf.work();
    const parent = await ends(hf, id);
    expect(parent.logs.map(({ text }) => text).join()).toMatch(/dropped: duplicate of/);
    expect((await hf.jobs({ type: "child" })).jobs).toHaveLength(1);
  });

  it("a thousand spawned jobs are enough", async () => {
    const { hf } = world.process();
    let refusal: unknown;
    hf.define({
      type: "parent",
      async run(job) {
        try {
          for (let n = 0; n <= 1_000; n += 1) await job.spawn("child", n, { queue: "children" });
        } catch (error) {
          refusal = error;
        }
      },
    });
    const { id } = await hf.enqueue("parent", null);
    await hf.work();
    expect((await ends(hf, id)).status).toBe("succeeded");
    expect(refusal).toBeInstanceOf(SpawnLimitError);
    await world.advance(1_500);
    expect((await hf.counts())["children"]).toMatchObject({ ready: 1_000 });
  });

  it("what spawned jobs carry beside their payloads counts, too", async () => {
    const { hf } = world.process();
    let spawned = 0;
    let refusal: unknown;
    hf.define({
      type: "parent",
      async run(job) {
        try {
          const meta = { note: "m".repeat(15 * 1024) };
          for (; spawned < 1_000; spawned += 1) await job.spawn("child", 1, { queue: "c", meta });
        } catch (error) {
          refusal = error;
        }
      },
    });
    const { id } = await hf.enqueue("parent", null);
    await hf.work();
    expect((await ends(hf, id)).status).toBe("succeeded");
    expect(refusal).toBeInstanceOf(SpawnLimitError);
    expect(spawned).toBeLessThan(70);
  });

  it("a handler that was abandoned cannot spawn any more", async () => {
    const { hf } = world.process();
    const gate = signal();
    let refusal: unknown;
    const tried = signal();
    hf.define({
      type: "deaf",
      timeoutMs: 1_000,
      retry: { maxAttempts: 1 },
      async run(job) {
        await gate.reached;
        await job.spawn("child", 1, { queue: "children" }).catch((error: unknown) => {
          refusal = error;
        });
        tried.reach();
      },
    });
    const { id } = await hf.enqueue("deaf", null);
    await hf.work();
    await world.advance(6_500);
    expect((await hf.job(id))?.status).toBe("dead");
    gate.reach();
    await tried.reached;
    expect(refusal).toBeInstanceOf(Error);
    expect((await hf.jobs({ type: "child" })).jobs).toEqual([]);
  });

  it("a finished step never runs again", async () => {
    const { hf } = world.process();
    const runs: string[] = [];
    hf.define({
      type: "stepped",
      retry: { delaysMs: [10] },
      async run(job) {
        const charge = await job.step("charge", () => {
          runs.push("charge");
          return { id: 7, at: new Date(0) };
        });
        const nothing = await job.step("nothing", () => void runs.push("nothing"));
        await job.step("mail", () => {
          runs.push("mail");
          if (job.attempt === 1) throw new Error("mail server down");
        });
        return { charge, nothing: nothing === undefined };
      },
    });
    const { id } = await hf.enqueue("stepped", null);
    await hf.work();
    await world.advance(1_000);
    expect(runs).toEqual(["charge", "nothing", "mail", "mail"]);
    expect(await hf.job(id)).toMatchObject({
      status: "succeeded",
      result: { charge: { id: 7, at: "1970-01-01T00:00:00.000Z" }, nothing: true },
      steps: ["charge", "nothing", "mail"],
    });
  });

  it("a step survives the crash of its worker", async () => {
    const doomed = world.process();
    const charged = signal();
    let charges = 0;
    const work = async (job: { step: (name: string, body: () => void) => Promise<void> }) =>
      job.step("charge", () => void (charges += 1));
    doomed.hf.handle("pay", async (job) => {
      await work(job);
      charged.reach();
      await new Promise(() => {});
    });
    const { id } = await doomed.hf.enqueue("pay", null);
    await doomed.hf.work();
    await charged.reached;
    doomed.kill();
    const { hf } = world.process();
    hf.handle("pay", work);
    await hf.work();
    await world.advance(12_000);
    expect(charges).toBe(1);
    expect((await hf.job(id))?.status).toBe("succeeded");
  });

  it("steps run in parallel but not inside each other, each under its own name", async () => {
    const { hf } = world.process();
    const errors: unknown[] = [];
    hf.define({
      type: "stepped",
      async run(job) {
        const values = await Promise.all([job.step("a", () => 1), job.step("b", async () => 2)]);
        await job.step("outer", async () => {
          await job.step("inner", () => 3).catch((error: unknown) => errors.push(error));
        });
        await job.step("a", () => 4).catch((error: unknown) => errors.push(error));
        return values;
      },
    });
    const { id } = await hf.enqueue("stepped", null);
    await hf.work();
    expect(await ends(hf, id)).toMatchObject({ status: "succeeded", result: [1, 2] });
    expect(errors).toHaveLength(2);
    expect(errors.every((error) => error instanceof StepError)).toBe(true);
  });

  it("the next attempt starts at the saved checkpoint", async () => {
    const { hf } = world.process();
    const rows: number[] = [];
    hf.define({
      type: "import",
      retry: { delaysMs: [10] },
      async run(job) {
        for (let row = job.checkpoint?.row ?? 0; row < 5; row += 1) {
          if (row === 3 && job.attempt === 1) throw new Error("line dropped");
          rows.push(row);
          await job.save({ row: row + 1 });
        }
      },
    });
    const { id } = await hf.enqueue("import", null);
    await hf.work();
    await world.advance(1_000);
    expect(rows).toEqual([0, 1, 2, 3, 4]);
    expect(await hf.job(id)).toMatchObject({ status: "succeeded", checkpoint: { row: 5 } });
  });

  it("the last progress wins", async () => {
    const { hf } = world.process();
    const gate = signal();
    hf.define({
      type: "slow",
      async run(job) {
        for (const percent of [10, 20, 30]) await job.progress(percent, `at ${percent}`);
        await gate.reached;
        await job.progress(100);
      },
    });
    const { id } = await hf.enqueue("slow", null);
    await hf.work();
    await world.advance(1_500);
    expect((await hf.job(id))?.progress).toEqual({ percent: 30, message: "at 30" });
    gate.reach();
    expect((await ends(hf, id)).progress).toEqual({ percent: 100, message: null });
  });

  it("the last 200 log lines are kept", async () => {
    const { hf } = world.process();
    hf.define({
      type: "chatty",
      run(job) {
        for (let line = 1; line <= 250; line += 1) job.log(`line ${line}`);
        job.log(`${"x".repeat(5_000)}\u0000`);
      },
    });
    const { id } = await hf.enqueue("chatty", null);
    await hf.work();
    const { logs } = await ends(hf, id);
    expect(logs).toHaveLength(200);
    expect(logs[0]!.text).toBe("line 52");
    expect(Buffer.byteLength(logs[199]!.text)).toBeLessThanOrEqual(1_024);
  });

  it("a result that cannot be stored does not undo the work", async () => {
    const { hf } = world.process();
    hf.define({ type: "large", run: () => "x".repeat(300 * 1_024) });
    hf.define({ type: "odd", run: () => 10n });
    hf.define({ type: "fits", run: () => "x".repeat(255 * 1_024) });
    await hf.work();
    for (const [type, resultDropped] of [
      ["large", true],
      ["odd", true],
      ["fits", false],
    ] as const) {
      const { id } = await hf.enqueue(type, null);
      const job = await ends(hf, id);
      expect(job).toMatchObject({ status: "succeeded", resultDropped });
      expect(job.result === null).toBe(resultDropped);
    }
  });

  it("the input of a schema is stored and its output is handed over", async () => {
    const { hf } = world.process();
    const schema = z.object({ at: z.string().transform((text) => new Date(text)) });
    const dated = defineJob({ type: "dated", payload: schema, dedupe: "payload" });
    let got: unknown;
    hf.handle(dated, (job) => void (got = job.payload.at));
    const first = await hf.enqueue(dated, { at: "2030-01-01T00:00:00.000Z" });
    const second = await hf.enqueue(dated, { at: "2030-01-01T00:00:00.000Z" });
    expect(second).toMatchObject({ status: "duplicate", id: first.id });
    await hf.work();
    const job = await ends(hf, first.id);
    expect(job.payload).toEqual({ at: "2030-01-01T00:00:00.000Z" });
    expect(got).toEqual(new Date("2030-01-01T00:00:00.000Z"));
  });
});
