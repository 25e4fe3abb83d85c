/** Middleware and listeners written by the habits of elsewhere lose no result, no failure and no process. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Holdfast, type Middleware } from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";

let hf: Holdfast;
let said: string[];
const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);

beforeEach(() => {
  said = [];
  unhandled.length = 0;
  process.on("unhandledRejection", note);
  const say = (message: string) => void said.push(message);
  hf = new Holdfast({
    store: memoryStore(),
    logger: { debug() {}, info() {}, warn: say, error: say },
  });
});
afterEach(async () => {
  await hf.close();
  await new Promise(setImmediate);
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

async function run(around: Middleware["around"], handler: () => unknown) {
  hf.use({ name: "tracing", around });
  hf.handle("t", handler);
  const receipt = await hf.enqueue("t", null, { queue: "default", maxAttempts: 1 });
  await hf.work();
  return hf.waitFor(receipt);
}

/** Ends in a later turn of the loop. */
const later = () => new Promise((resolve) => setImmediate(resolve));

describe("middleware", () => {
  it("that awaits next() and returns nothing leaves the result as it is", async () => {
    const around = async (_: unknown, next: () => Promise<unknown>) => {
      await next();
    };
    expect(await run(around, () => "sent")).toMatchObject({ status: "succeeded", result: "sent" });
    expect(said).toEqual([]);
  });

  it("that does not await next() is waited for, and told of", async () => {
    const around = async (_: unknown, next: () => Promise<unknown>) => {
      void next();
    };
    const done = await run(around, () => later().then(() => "sent"));
    expect(done).toMatchObject({ status: "succeeded", result: "sent" });
    expect(said).toEqual([expect.stringContaining("tracing did not await next()")]);
  });

  it("that does not await next() does not hide that the handler failed", async () => {
    const around = async (_: unknown, next: () => Promise<unknown>) => {
      void next();
    };
    const done = await run(around, () => later().then(() => Promise.reject(new Error("no mail"))));
    expect(done).toMatchObject({ status: "dead", job: { error: { message: "no mail" } } });
  });

  it("that calls next() twice runs the handler once", async () => {
    let runs = 0;
    const around = async (_: unknown, next: () => Promise<unknown>) => {
      await next();
      return next();
    };
    expect(await run(around, () => (runs += 1))).toMatchObject({ result: 1 });
    expect(runs).toBe(1);
  });

  it("that catches a failure decides, as it did", async () => {
    const around = (_: unknown, next: () => Promise<unknown>) => next().catch(() => {});
    const done = await run(around, () => Promise.reject(new Error("never mind")));
    expect(done).toMatchObject({ status: "succeeded", result: null });
  });

  it("that never calls next() is told of: the job counts as done, and nothing was", async () => {
    const done = await run(
      async () => {},
      () => "sent",
    );
    expect(done).toMatchObject({ status: "succeeded", result: null });
    expect(said).toEqual([expect.stringContaining("tracing did not call next()")]);
  });
});

describe("a listener", () => {
  it("that is asynchronous and rejects is reported, and ends nothing", async () => {
    // oxlint-disable-next-line typescript/no-misused-promises -- this is the mistake
    hf.on("succeeded", async () => {
      await later();
      throw new Error("the chat is down");
    });
    hf.handle("t", () => "sent");
    const receipt = await hf.enqueue("t", null, { queue: "default" });
    await hf.work();
    expect(await hf.waitFor(receipt)).toMatchObject({ status: "succeeded" });
    while (said.length === 0) await later();
    expect(said).toEqual([expect.stringContaining('a listener for "succeeded" threw')]);
  });
});
