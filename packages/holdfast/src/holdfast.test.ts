import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  ClosedError,
  defineJob,
  Holdfast,
  InvalidNameError,
  InvalidOptionError,
  InvalidPayloadError,
  JobNotFoundError,
  PayloadTooLargeError,
  TypeTakenError,
} from "./index.ts";
import { memoryStore } from "./stores/memory/index.ts";

describe("Holdfast", () => {
  let hf: Holdfast;
  beforeEach(() => {
    hf = new Holdfast({ store: memoryStore() });
  });
  afterEach(() => hf.close());

  it("says what is wrong with its options", () => {
    expect(() => new Holdfast({} as never)).toThrow(/needs a store/);
    expect(() => new Holdfast({ store: memoryStore(), stroe: 1 } as never)).toThrow(/"store"/);
    expect(() => new Holdfast({ store: memoryStore(), maxPayloadBytes: 0 })).toThrow(
      InvalidOptionError,
    );
  });

  it("says what is wrong with its ledger and with what it does in an outage", async () => {
    const store = memoryStore();
    const make = (options: object) => () => new Holdfast({ store, ...options } as never);
    expect(make({ ledger: {} })).toThrow(/ledger is "store"/);
    expect(make({ store: undefined, resilient: "inline", ledger: "store" })).toThrow(/of its own/);
    expect(make({ resilient: "inlin" })).toThrow(/resilient/);
    expect(make({ resilient: { spool: "" } })).toThrow(/resilient is "inline"/);
    expect(make({ resilient: { spol: "x.db" } })).toThrow(/"spool"/);
    expect(make({ store: undefined, resilient: { spool: "x.db" } })).toThrow(/needs a store/);
    expect(make({ retention: { ledger: { failures: null } } })).toThrow(/"failure"/);
    await expect(hf.ledger({ limit: 0 })).rejects.toThrow(InvalidOptionError);
  });

  it("refuses names, options and payloads that no store could keep", async () => {
    const q = { queue: "q" };
    await expect(hf.enqueue("no spaces", null, q)).rejects.toThrow(InvalidNameError);
    await expect(hf.enqueue("t", null, { queue: "a}b" })).rejects.toThrow(InvalidNameError);
    await expect(hf.enqueue("t", null, { ...q, priority: -1 })).rejects.toThrow(InvalidOptionError);
    await expect(hf.enqueue("t", null, { ...q, delayMs: NaN })).rejects.toThrow(InvalidOptionError);
    await expect(hf.enqueue("t", "a\u0000b", q)).rejects.toThrow(InvalidPayloadError);
    await expect(hf.enqueue("t", { big: 10n }, q)).rejects.toThrow(/payload\.big/);
    await expect(hf.enqueue("t", "x".repeat(1024 * 1024), q)).rejects.toThrow(PayloadTooLargeError);
    expect(await hf.enqueue("t", "x".repeat(1024 * 1024 - 2), q)).toMatchObject({
      status: "added",
    });
  });

  it("starts no worker that it was asked for while the store opened, once it is closed", async () => {
    const { promise: opening, resolve: open } = Promise.withResolvers<void>();
    const inner = memoryStore();
    let leases = 0;
    const closed = new Holdfast({
      store: {
        ...inner,
        open: () => opening.then(() => inner.open()),
        lease: (request) => ((leases += 1), inner.lease(request)),
      },
    });
    const working = closed.work({ queues: ["mail"] });
    const closing = closed.close();
    open();
    await expect(working).rejects.toThrow(ClosedError);
    await closing;
    expect(leases).toBe(0);
  });

  it("has one contract and one handler for a type", () => {
    hf.define({ type: "a", run: () => {} });
    expect(() => hf.handle("a", () => {})).toThrow(TypeTakenError);
    expect(() => hf.handle(defineJob({ type: "a" }), () => {})).toThrow(TypeTakenError);
    expect(() => hf.define({ type: "b" } as never)).toThrow(/needs run/);
  });

  it("says which queue a worker lacks, and what else is wrong with work", async () => {
    await expect(hf.work()).rejects.toThrow(/no queue/);
    await expect(hf.work({ queues: ["q"], concurrency: 0 })).rejects.toThrow(InvalidOptionError);
    await expect(hf.work({ queues: ["q"], leaseMs: 1_000, renewMs: 900 })).rejects.toThrow(
      /at most half/,
    );
    await expect(hf.work({ queues: { q: 0 } })).rejects.toThrow(/weight/);
  });

  it("cancels, retries and removes only what allows it, and says what happened", async () => {
    const { id } = await hf.enqueue("t", null, { queue: "q" });
    expect(await hf.retry(id)).toBe("refused");
    expect(await hf.cancel(id)).toBe("cancelled");
    expect(await hf.cancel(id)).toBe("cancelled");
    expect(await hf.retry(id, { attempts: 1 })).toBe("retried");
    expect(await hf.remove(id)).toBe("removed");
    await expect(hf.cancel(id)).rejects.toThrow(JobNotFoundError);
    await expect(hf.retry(id)).rejects.toThrow(JobNotFoundError);
    expect(await hf.job(id)).toBeNull();
  });

  it("pauses and resumes a queue or one group of it", async () => {
    const ran: string[] = [];
    hf.define({ type: "t", queue: "q", run: (job) => void ran.push(job.group ?? "none") });
    await hf.pause({ queue: "q", group: "held" }, { reason: "provider down", by: "ada" });
    const held = await hf.enqueue("t", null, { group: "held" });
    const free = await hf.enqueue("t", null, { group: "free" });
    await hf.work();
    await hf.waitFor(free);
    expect(ran).toEqual(["free"]);
    const { lines } = await hf.lines("q");
    expect(lines).toMatchObject([{ group: "held", holds: [{ owner: "pause", by: "ada" }] }]);
    await hf.resume({ queue: "q", group: "held" });
    await hf.waitFor(held);
    expect(ran).toEqual(["free", "held"]);
  });

  it("limits a queue, its groups and their weights", async () => {
    await hf.limit("q", { maxActive: 50, maxActivePerGroup: 5, maxWaiting: 10, weights: { a: 3 } });
    expect((await hf.lines("q")).queue).toMatchObject({
      maxActive: 50,
      maxActivePerGroup: 5,
      maxWaiting: 10,
    });
    await expect(hf.limit("q", { weight: 3 })).rejects.toThrow(InvalidOptionError);
    await expect(hf.limit({ queue: "q", group: "a" }, { maxWaiting: 3 })).rejects.toThrow(
      InvalidOptionError,
    );
    await expect(hf.limit("q", { maxActive: -1 })).rejects.toThrow(InvalidOptionError);
  });

  it("survives a listener that throws", async () => {
    const heard: string[] = [];
    const quiet = new Holdfast({
      store: memoryStore(),
      logger: { debug() {}, info() {}, warn() {}, error: (message) => void heard.push(message) },
    });
    quiet.on("succeeded", () => {
      throw new Error("listener");
    });
    quiet.define({ type: "t", run: () => "done" });
    const receipt = await quiet.enqueue("t", null);
    await quiet.work();
    expect(await quiet.waitFor(receipt)).toMatchObject({ status: "succeeded" });
    await quiet.close();
    expect(heard.join()).toContain('listener for "succeeded" threw');
  });

  it("refuses everything after close, and close may be called again", async () => {
    await hf.close();
    await hf.close();
    await expect(hf.enqueue("t", null, { queue: "q" })).rejects.toThrow(ClosedError);
    await expect(hf.job("x")).rejects.toThrow(ClosedError);
    await expect(hf.work({ queues: ["q"] })).rejects.toThrow(ClosedError);
  });

  it("ends a wait that close cuts short", async () => {
    const receipt = await hf.enqueue("t", null, { queue: "q" });
    const waiting = expect(hf.waitFor(receipt)).rejects.toThrow(ClosedError);
    await new Promise((resolve) => setImmediate(resolve));
    await hf.close();
    await waiting;
  });
});
