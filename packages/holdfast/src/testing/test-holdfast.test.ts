import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineJob, PermanentError } from "../index.ts";
import { DrainTimeoutError, testHoldfast } from "./index.ts";

const sendEmail = defineJob({
  type: "email.send",
  queue: "mail",
  payload: z.object({ to: z.string() }),
});

describe("testHoldfast", () => {
  it("runs nothing before drain, and everything due in it", async () => {
    const t = testHoldfast();
    const sent: string[] = [];
    t.hf.handle(sendEmail, async (job) => void sent.push(job.payload.to));
    await t.hf.enqueue(sendEmail, { to: "a@example.com" });
    expect(sent).toEqual([]);
    await t.drain();
    expect(sent).toEqual(["a@example.com"]);
    await t.hf.close();
  });

  it("takes the same attempts, lock and work as a Holdfast", async () => {
    const t = testHoldfast({ maxAttempts: 2, lock: { staleMs: 60_000 }, work: { concurrency: 1 } });
    t.hf.handle("dies", () => {
      throw new Error("always");
    });
    await t.hf.enqueue("dies", {});
    await t.drain();
    await t.advance(60_000);
    await t.drain();
    expect(t.deadLetters()).toMatchObject([{ type: "dies" }]);
    await t.hf.close();
  });

  it("lets an hour pass in a moment", async () => {
    const t = testHoldfast();
    const sent: string[] = [];
    t.hf.handle(sendEmail, async (job) => void sent.push(job.payload.to));
    await t.hf.enqueue(sendEmail, { to: "a@example.com" }, { delayMs: 3_600_000 });
    await t.drain();
    expect(sent).toEqual([]);
    await t.advance(3_600_000);
    await t.drain();
    expect(sent).toEqual(["a@example.com"]);
    await t.hf.close();
  });

  it("knows what was enqueued, typed by its contract, spawned jobs included", async () => {
    const t = testHoldfast();
    t.hf.handle(sendEmail, async (job) => {
      await job.spawn("email.track", { to: job.payload.to }, { queue: "track" });
    });
    t.hf.handle("email.track", async () => "tracked");
    await t.hf.enqueue(sendEmail, { to: "a@example.com" }, { priority: 7 });
    expect(t.enqueued(sendEmail)).toMatchObject([
      { payload: { to: "a@example.com" }, priority: 7 },
    ]);
    await t.drain();
    expect(t.enqueued("email.track")).toMatchObject([{ payload: { to: "a@example.com" } }]);
    expect(t.enqueued()).toHaveLength(2);
    expect(await t.hf.counts()).toMatchObject({ mail: { succeeded: 1 }, track: { succeeded: 1 } });
    await t.hf.close();
  });

  it("retries a failing job only after its backoff has passed", async () => {
    const t = testHoldfast();
    const attempts: number[] = [];
    t.hf.handle(sendEmail, async (job) => {
      attempts.push(job.attempt);
      if (job.attempt === 1) throw new Error("not yet");
    });
    await t.hf.enqueue(sendEmail, { to: "a@example.com" });
    await t.drain();
    expect(attempts).toEqual([1]);
    await t.advance(1_200);
    await t.drain();
    expect(attempts).toEqual([1, 2]);
    await t.hf.close();
  });

  it("says which handler hangs, and closes all the same", async () => {
    const t = testHoldfast({ patienceMs: 20 });
    t.hf.handle(sendEmail, () => new Promise(() => {}));
    const { id } = await t.hf.enqueue(sendEmail, { to: "a@example.com" });
    const error = await t.drain().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DrainTimeoutError);
    expect(String(error)).toContain(`email.send (${id})`);
    await t.hf.close();
  });

  it("gives up after two seconds without progress, well before a test runner does", async () => {
    const t = testHoldfast();
    t.hf.handle(sendEmail, () => new Promise(() => {}));
    await t.hf.enqueue(sendEmail, { to: "a@example.com" });
    await expect(t.drain()).rejects.toThrow("nothing has moved for 2000 ms");
    await t.hf.close();
  });

  it("says to drain when a test waits for a job that nothing runs", async () => {
    const t = testHoldfast({ patienceMs: 20 });
    t.hf.handle(sendEmail, () => {});
    const receipt = await t.hf.enqueue(sendEmail, { to: "a@example.com" });
    const error = await t.hf.waitFor(receipt).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DrainTimeoutError);
    expect(String(error)).toContain(`waitFor waits for job ${receipt.id}`);
    expect(String(error)).toContain("await t.drain()");
    await t.drain();
    expect(await t.hf.waitFor(receipt)).toMatchObject({ status: "succeeded" });
    await t.hf.close();
  });

  it("lets a wait that began before the drain end with it", async () => {
    const t = testHoldfast();
    t.hf.handle(sendEmail, () => "sent");
    const waiting = t.hf.waitFor(await t.hf.enqueue(sendEmail, { to: "a@example.com" }));
    await t.drain();
    expect(await waiting).toMatchObject({ status: "succeeded", result: "sent" });
    await t.hf.close();
  });

  it("is patient with handlers that make progress", async () => {
    const t = testHoldfast({ patienceMs: 200 });
    t.hf.handle(sendEmail, async (job) => {
      for (let step = 0; step < 6; step += 1) {
        await job.step(`step ${step}`, () => new Promise<void>((done) => setTimeout(done, 60)));
      }
    });
    await t.hf.enqueue(sendEmail, { to: "a@example.com" });
    await t.drain();
    expect(await t.hf.counts()).toMatchObject({ mail: { succeeded: 1 } });
    await t.hf.close();
  });

  it("waits in a second drain for what the first one left running", async () => {
    const t = testHoldfast({ patienceMs: 20 });
    let finish = () => {};
    t.hf.handle(sendEmail, () => new Promise<void>((resolve) => (finish = resolve)));
    await t.hf.enqueue(sendEmail, { to: "a@example.com" });
    await expect(t.drain()).rejects.toThrow(DrainTimeoutError);
    const again = t.drain();
    finish();
    await again;
    expect(await t.hf.counts()).toMatchObject({ mail: { succeeded: 1, processing: 0 } });
    await t.hf.close();
  });

  it("lets a timeout come to its end while a drain waits for the handler", async () => {
    const slow = defineJob({ type: "slow", timeoutMs: 30_000, retry: { maxAttempts: 1 } });
    const t = testHoldfast();
    t.hf.handle(slow, (job) => {
      return new Promise((_resolve, reject) => {
        job.signal.addEventListener("abort", () => reject(job.signal.reason as Error));
      });
    });
    const { id } = await t.hf.enqueue(slow, null);
    const drained = t.drain();
    await t.advance(30_000);
    await drained;
    expect(await t.hf.job(id)).toMatchObject({ status: "dead", error: { category: "timeout" } });
    await t.hf.close();
  });

  it("gives the same ids and jitter for the same seed", async () => {
    const ids = async (seed: number) => {
      const t = testHoldfast({ seed });
      t.hf.handle(sendEmail, () => {});
      const receipt = await t.hf.enqueue(sendEmail, { to: "a@example.com" });
      await t.hf.close();
      return receipt.id;
    };
    expect(await ids(4)).toBe(await ids(4));
    expect(await ids(4)).not.toBe(await ids(5));
  });

  it("has the statistics of what it drained at once, and a week later", async () => {
    const t = testHoldfast();
    t.hf.handle("email.send", ({ payload }) => {
      if (payload === "bad") throw new PermanentError("no such address");
    });
    for (const payload of ["ann", "bob", "bad"]) {
      await t.hf.enqueue("email.send", payload, { queue: "mail" });
    }
    await t.drain();
    expect(await t.hf.stats({ queue: "mail" })).toMatchObject({
      ...{ finished: { succeeded: 2, dead: 1, cancelled: 0 }, failedLastHour: 1 },
      topFailing: [{ type: "email.send", failed: 1, dead: 1 }],
    });
    await t.advance(7 * 86_400_000);
    const week = await t.hf.stats({ lastMs: 8 * 86_400_000 });
    expect(week).toMatchObject({ finished: { succeeded: 2, dead: 1 }, failedLastHour: 0 });
    expect((await t.hf.stats()).finished.succeeded).toBe(0);
    await t.hf.close();
  });

  it("raises and delivers alerts in a drain, one for each fault", async () => {
    const told: string[] = [];
    const t = testHoldfast({
      logger: SILENT,
      alerts: { notify: [(alert) => void told.push(`${alert.kind}: ${alert.message}`)] },
    });
    t.hf.define({
      type: "work",
      retry: { maxAttempts: 1 },
      run() {
        throw new Error("no disk");
      },
    });
    for (let count = 0; count < 3; count += 1) await t.hf.enqueue("work", count);
    await t.drain();
    expect(t.alerts()).toMatchObject([{ kind: "dead", type: "work", count: 3, attempts: 1 }]);
    expect(told).toEqual(["dead: 3 jobs of work are dead: no disk"]);
    await t.hf.enqueue("work", 4);
    await t.drain();
    expect(t.alerts()).toHaveLength(1);
    await t.advance(3_600_000);
    await t.drain();
    expect(t.alerts()).toMatchObject([{ count: 3 }, { count: 1 }]);
    expect(told).toHaveLength(2);
    await t.hf.close();
  });

  it("fires schedules while time passes, and knows their ticks", async () => {
    const t = testHoldfast();
    const sent: string[] = [];
    t.hf.handle(sendEmail, async (job) => void sent.push(job.payload.to));
    t.hf.schedule("weekly-report", {
      ...{ cron: "0 9 * * 1", timeZone: "Europe/Berlin" },
      job: sendEmail.of({ to: "boss@example.com" }),
    });
    await t.advance(7 * 86_400_000);
    expect(t.ticks("weekly-report")).toMatchObject([{ state: "fired" }]);
    expect(t.enqueued(sendEmail)).toHaveLength(1);
    expect(sent).toEqual([]);
    await t.drain();
    expect(sent).toEqual(["boss@example.com"]);
    await t.advance(14 * 86_400_000);
    // Nothing runs before a drain, so the second one met a job that had not finished.
    expect(t.ticks("weekly-report").map(({ state }) => state)).toEqual([
      ...["fired", "fired", "skipped"],
    ]);
    expect(t.ticks().map(({ tick }) => tick.getUTCDay())).toEqual([1, 1, 1]);
    await t.hf.close();
  });

  it("makes the next run of a type fail, and lists the dead", async () => {
    const t = testHoldfast();
    const sent: string[] = [];
    t.hf.handle(sendEmail, async (job) => void sent.push(job.payload.to));
    t.fail("email.send", new Error("SMTP is away"));
    const { id } = await t.hf.enqueue(
      ...([sendEmail, { to: "a@example.com" }, { maxAttempts: 1 }] as const),
    );
    await t.hf.enqueue(sendEmail, { to: "b@example.com" });
    await t.drain();
    expect(sent).toEqual(["b@example.com"]);
    expect(t.deadLetters()).toEqual([
      {
        ...{ id, type: "email.send", queue: "mail", payload: { to: "a@example.com" } },
        ...{ reason: "failed", category: "unknown", message: "SMTP is away" },
      },
    ]);
    expect(t.deadLetters("email.track")).toEqual([]);
    await t.hf.retry(id);
    expect(t.deadLetters(sendEmail)).toEqual([]);
    await t.drain();
    expect(sent).toEqual(["b@example.com", "a@example.com"]);
    expect(() => t.fail({} as string, new Error("x"))).toThrow("fail takes a contract");
    await t.hf.close();
  });
});

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

describe("gates in a test kit", () => {
  it("a rate refills and a breaker opens and closes by advance", async () => {
    const t = testHoldfast();
    let ran = 0;
    let isDown = false;
    t.hf.define({
      type: "crm.push",
      queue: "crm",
      retry: { maxAttempts: 50 },
      run() {
        ran += 1;
        if (isDown) throw Object.assign(new Error("down"), { code: "ECONNREFUSED" });
      },
    });
    const add = (count: number) =>
      t.hf.enqueueAll(Array.from({ length: count }, () => ({ type: "crm.push", payload: null })));
    await t.hf.gates.set("hubspot", {
      queue: "crm",
      rate: { limit: 10, perMs: 10_000, burst: 4 },
      breaker: { failures: 2, withinMs: 60_000, openMs: 30_000 },
    });
    await add(6);
    await t.drain();
    expect(ran).toBe(4);
    await t.advance(1_000);
    await t.drain();
    expect(ran).toBe(5);
    isDown = true;
    await t.advance(60_000);
    await t.drain();
    await add(3);
    await t.drain();
    expect((await t.hf.gates.get("hubspot"))?.state).toBe("open");
    const whenOpened = ran;
    await t.advance(20_000);
    await t.drain();
    expect(ran).toBe(whenOpened);
    isDown = false;
    await t.advance(20_000);
    await t.drain();
    await t.advance(60_000);
    await t.drain();
    expect((await t.hf.gates.get("hubspot"))?.state).toBe("closed");
    expect(ran).toBeGreaterThan(whenOpened + 1);
    await t.hf.close();
  });
});
