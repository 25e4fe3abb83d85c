/** What used to happen without a word is told, once. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  ClosedError,
  Holdfast,
  InvalidOptionError,
  ScheduleNotFoundError,
  type Logger,
} from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { testHoldfast } from "../../packages/holdfast/src/testing/index.ts";

let warnings: string[];
const logger: Logger = {
  debug() {},
  info() {},
  warn: (message) => void warnings.push(message),
  error: (message) => void warnings.push(message),
};
/** Longer than the time between two beats of a worker. */
const BEATS_MS = 12_000;

beforeEach(() => {
  warnings = [];
});

describe("a worker", () => {
  let t: ReturnType<typeof testHoldfast>;
  beforeEach(() => {
    t = testHoldfast({ logger });
  });
  afterEach(() => t.hf.close());

  it("warns once of a queue that no contract, job or setting knows, with the nearest", async () => {
    t.hf.define({ type: "email.send", queue: "mail", run: () => {} });
    await t.hf.work({ queues: ["mail", "mial"] });
    await t.advance(BEATS_MS);
    await t.advance(BEATS_MS);
    expect(warnings).toEqual([
      'a worker takes queue "mial", which no contract, job or setting knows; did you mean "mail"?',
    ]);
  });

  it("has a line for each lease that brought jobs, for those who debug", async () => {
    const lines: unknown[] = [];
    const debug = (message: string, details?: object) => void lines.push({ message, ...details });
    const told = testHoldfast({ logger: { ...logger, debug } });
    told.hf.define({ type: "email.send", run: () => {} });
    await told.hf.enqueue("email.send", null);
    await told.drain();
    const leases = lines.filter((line) => JSON.stringify(line).includes('"lease"'));
    expect(leases).toEqual([
      { message: "leased", event: "lease", worker: expect.any(String) as string, count: 1 },
    ]);
    await told.hf.close();
  });

  it("warns once of a queue with jobs in which no handler is defined here", async () => {
    t.hf.define({ type: "email.send", queue: "mail", run: () => {} });
    await t.hf.limit("reports", { maxActive: 1 });
    await t.hf.work({ queues: ["mail", "reports"] });
    await t.advance(BEATS_MS);
    expect(warnings).toEqual([
      expect.stringContaining(
        'takes queue "reports", and no handler of this process belongs to it',
      ),
    ]);
  });

  it("warns once of handlers whose queue no worker here takes", async () => {
    t.hf.define({ type: "email.send", queue: "mail", run: () => {} });
    await t.hf.work();
    t.hf.define({ type: "report.make", queue: "reports", run: () => {} });
    await t.advance(BEATS_MS);
    await t.advance(BEATS_MS);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('no worker of this process takes queue "reports"');
    expect(warnings[0]).toContain("report.make");
  });

  it("says nothing where every queue has its handlers and every handler its worker", async () => {
    t.hf.define({ type: "email.send", queue: "mail", run: () => {} });
    t.hf.define({ type: "report.make", queue: "reports", run: () => {} });
    await t.hf.work({ queues: ["mail"] });
    await t.hf.work({ queues: ["reports"] });
    await t.advance(BEATS_MS);
    expect(warnings).toEqual([]);
  });
});

describe("a process", () => {
  let hf: Holdfast;
  beforeEach(() => {
    hf = new Holdfast({ store: memoryStore(), logger });
  });
  afterEach(() => hf.close());

  it("says that a result is not stored, and why", async () => {
    const big = hf.define({ type: "big", run: () => "x".repeat(300_000) });
    await hf.work();
    const done = await hf.waitFor(await big.enqueue(null));
    expect(done).toMatchObject({ status: "succeeded", job: { resultDropped: true } });
    expect(warnings).toEqual([expect.stringMatching(/result of job .* \(big\) is not stored/)]);
  });

  it("names the types that ran while its event loop was blocked, also one that has ended", async () => {
    const blocking = hf.define({
      type: "image.resize",
      run() {
        const until = performance.now() + 1_300;
        while (performance.now() < until);
      },
    });
    await hf.work({ leaseMs: 10_000, renewMs: 50 });
    await hf.waitFor(await blocking.enqueue(null));
    while (warnings.length === 0) await new Promise(setImmediate);
    expect(warnings).toEqual([
      expect.stringMatching(/was blocked for \d+ ms \(handlers of image.resize ran meanwhile\)/),
    ]);
  });

  it("is not well any more once it is closed", async () => {
    await hf.enqueue("t", null, { queue: "q" });
    expect(hf.health().ok).toBe(true);
    const closing = hf.close();
    expect(hf.health().ok).toBe(false);
    await closing;
    expect(hf.health()).toMatchObject({ ok: false, workers: [] });
  });

  it("takes no handler, listener, middleware or schedule once it is closed", async () => {
    const job = { type: "late", payload: null };
    await hf.close();
    const late = {
      define: () => hf.define({ type: "late", run: () => {} }),
      handle: () => hf.handle("late", () => {}),
      on: () => hf.on("succeeded", () => {}),
      use: () => hf.use({ around: (_attempt, next) => next() }),
      schedule: () => hf.schedule("late", { everyMs: 60_000, job }),
    };
    for (const [name, call] of Object.entries(late)) expect(call, name).toThrow(ClosedError);
  });

  it("says that there is no schedule of a name, instead of that it has not fired", async () => {
    await expect(hf.schedules.runs("nightly")).rejects.toThrow(ScheduleNotFoundError);
    const job = { type: "report.make", payload: null, queue: "reports" };
    await hf.schedules.set("nightly", { cron: "0 3 * * *", job });
    expect(await hf.schedules.runs("nightly")).toEqual({ runs: [], nextCursor: null });
    await hf.schedules.runNow("nightly");
    await hf.schedules.remove("nightly");
    // What it did is kept longer than the schedule.
    expect((await hf.schedules.runs("nightly")).runs).toHaveLength(1);
  });

  it("gives dates for lines and their holds, as it does for jobs", async () => {
    await hf.enqueue("t", null, { queue: "q", group: "a" });
    await hf.pause({ queue: "q", group: "a" }, { forMs: 60_000 });
    await hf.pause("q");
    const { queue, lines } = await hf.lines("q");
    expect(queue?.holds).toMatchObject([{ since: expect.any(Date) as Date, until: null }]);
    expect(lines[0]?.oldestAt).toBeInstanceOf(Date);
    const [hold] = lines[0]?.holds ?? [];
    expect(hold!.until!.getTime() - hold!.since.getTime()).toBe(60_000);
  });

  it("says how queues are named when one is given as a text", async () => {
    const error = await hf.work({ queues: "mail" as never }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(String(error)).toContain('work({ queues: ["mail"] })');
  });
});
