/** A forgotten `await` in a handler is waited for and told, and never ends the process. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Holdfast, type Logger, type RunningJob } from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";

let hf: Holdfast;
let warnings: string[];
const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);

beforeEach(() => {
  warnings = [];
  unhandled.length = 0;
  process.on("unhandledRejection", note);
  const warn = (message: string) => void warnings.push(message);
  const logger: Logger = { debug() {}, info() {}, warn, error: warn };
  hf = new Holdfast({ store: memoryStore(), logger });
});
afterEach(async () => {
  await hf.close();
  await new Promise(setImmediate);
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

async function run(handler: (job: RunningJob) => unknown) {
  hf.handle("t", handler);
  const receipt = await hf.enqueue("t", null, { queue: "default", maxAttempts: 1 });
  await hf.work();
  return hf.waitFor(receipt);
}

/** A moment that no call of a store would take. */
const later = () => new Promise<void>((resolve) => setTimeout(resolve, 20));

describe("a call of a job that is not awaited", () => {
  it("is waited for before the attempt ends, and its line is in the log", async () => {
    const done = await run((job) => {
      // oxlint-disable-next-line typescript/no-floating-promises -- this is the mistake
      job.step("charge", async () => {
        await later();
        return "charged";
      });
    });
    expect(done).toMatchObject({ status: "succeeded", job: { steps: ["charge"] } });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('job.step("charge") was not awaited');
    expect(warnings[0]).toContain("forgotten-await.test.ts:");
  });

  it("fails the attempt when it fails, as it would have with await", async () => {
    const done = await run((job) => {
      void job.step("charge", async () => {
        await later();
        throw new Error("the card is refused");
      });
    });
    expect(done).toMatchObject({ status: "dead", error: { message: "the card is refused" } });
  });

  it("fails the attempt also when it has failed before the handler ends", async () => {
    const done = await run(async (job) => {
      void job.progress(Number.NaN);
      await later();
    });
    expect(done).toMatchObject({ status: "dead", error: { message: /progress takes/ } });
  });

  it("is stored whichever it is: spawn and save, and what follows them unawaited", async () => {
    const twoSteps = async (job: RunningJob) => {
      await job.step("one", later);
      await job.step("two", later);
    };
    const done = await run((job) => {
      void job.spawn("child", null, { queue: "children" });
      void job.save({ row: 7 });
      void twoSteps(job);
    });
    expect(done).toMatchObject({ job: { checkpoint: { row: 7 }, steps: ["one", "two"] } });
    expect(await hf.counts()).toMatchObject({ children: { ready: 1 } });
  });

  it("is no failure of the attempt when the handler listened to it", async () => {
    const done = await run(async (job) => {
      const failing = job.step("maybe", () => {
        throw new Error("not this time");
      });
      await later();
      return Promise.race([failing.catch(() => "without it"), later().then(later)]);
    });
    expect(done).toMatchObject({ status: "succeeded", result: "without it" });
    expect(warnings).toEqual([]);
  });

  it("is told when it is made after the attempt has ended", async () => {
    const told = new Promise<string>((resolve) => {
      const push = warnings.push.bind(warnings);
      warnings.push = (message) => (resolve(message), push(message));
    });
    const done = await run((job) => {
      setTimeout(() => void job.step("too late", () => 1), 20);
    });
    expect(done.status).toBe("succeeded");
    expect(await told).toMatch(/job\.step\("too late"\) was called .* after its attempt/);
  });
});
