/** Why a job is not running: each reason, and what would end it. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  InvalidOptionError,
  JobNotFoundError,
  PermanentError,
  StoreUnavailableError,
  type Holdfast,
} from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { EVERY_STORE, openWorld, signal, type World } from "./world.ts";

describe.each(EVERY_STORE)("why on %s", (name) => {
  let world: World;
  beforeEach(async () => {
    world = await openWorld(name);
  });
  afterEach(() => world.close());

  const kinds = async (hf: Holdfast, id: string) =>
    (await hf.why(id)).reasons.map(({ kind }) => kind);

  it("a job that is due later says when, and why it failed before", async () => {
    const { hf } = world.process();
    hf.define({
      type: "mail",
      retry: { baseMs: 60_000, jitter: 0 },
      run() {
        throw new Error("no route");
      },
    });
    const { id } = await hf.enqueue("mail", 1);
    await hf.work();
    await world.advance(500);
    const why = await hf.why(id);
    expect(why).toMatchObject({ id, status: "queued", reasons: [{ kind: "due later" }] });
    expect(why.summary).toContain("no route");
    expect(why.reasons[0]?.until).toBeInstanceOf(Date);
  });

  it("a queue or a group that is held says by whom, why and until when", async () => {
    const { hf } = world.process();
    hf.define({ type: "mail", queue: "mail", run() {} });
    await hf.work();
    await hf.pause("mail", { by: "ops", reason: "provider down" });
    await hf.pause({ queue: "mail", group: "t7" }, { forMs: 60_000, by: "ann", reason: "unpaid" });
    const { id } = await hf.enqueue("mail", 1, { group: "t7" });
    const why = await hf.why(id);
    expect(why.summary).toBe("Queue mail is paused by ops: provider down.");
    expect(why.reasons).toMatchObject([
      { kind: "held", until: null },
      { kind: "held", until: expect.any(Date), message: expect.stringContaining("unpaid") },
    ]);
  });

  it("a gate that holds back says which one, and until when", async () => {
    const { hf } = world.process();
    hf.define({ type: "mail", queue: "mail", run() {} });
    await hf.gates.set("smtp", {
      queue: "mail",
      breaker: { failures: 1, withinMs: 60_000, openMs: 30_000 },
    });
    await hf.work();
    await hf.gates.force("smtp", "open", { by: "ops", reason: "outage" });
    const { id } = await hf.enqueue("mail", 1);
    await world.advance(500);
    const why = await hf.why(id);
    expect(why.reasons).toMatchObject([{ kind: "breaker" }]);
    expect(why.summary).toContain("Gate smtp");
  });

  it("without a worker, with quiet ones, or with ones that do not know its type", async () => {
    const { hf } = world.process();
    hf.handle("other", () => {});
    const { id } = await hf.enqueue("mail", 1, { queue: "mail" });
    expect(await kinds(hf, id)).toEqual(["no worker"]);
    await hf.work({ queues: ["mail"] });
    await world.advance(6_000);
    expect(await kinds(hf, id)).toContain("unknown type");
    const [worker] = await hf.workers.list();
    await hf.workers.quiet(worker?.id ?? "");
    await world.advance(12_000);
    const { reasons } = await hf.why(id);
    const quiet = reasons.find(({ kind }) => kind === "no worker");
    expect(quiet?.message).toContain(worker?.id);
  });

  it("a cap that is full names the jobs that have it, and how many wait before", async () => {
    const { hf } = world.process();
    const go = signal();
    hf.define({ type: "mail", queue: "mail", run: () => go.reached });
    await hf.limit("mail", { maxActive: 1 });
    const first = await hf.enqueue("mail", 1);
    await hf.work();
    await world.advance(500);
    await hf.enqueue("mail", 2);
    const { id } = await hf.enqueue("mail", 3);
    expect(await hf.why(first.id)).toMatchObject({
      status: "processing",
      reasons: [{ kind: "leased" }],
    });
    expect((await hf.why(id)).reasons).toMatchObject([
      { kind: "full", jobs: [first.id] },
      { kind: "behind", message: expect.stringContaining("One job waits before it") },
    ]);
    go.reach();
    await world.advance(2_000);
    expect((await hf.why(id)).summary).toMatch(/^It is succeeded/);
  });

  it("a ledger elsewhere that does not answer is told of, once the job has begun", async () => {
    const ledger = memoryStore();
    let isAway = false;
    const read: typeof ledger.records.read = async (keys) => {
      if (isAway) throw new StoreUnavailableError("no route", { mayHaveHappened: false });
      return ledger.records.read(keys);
    };
    const elsewhere = { ...ledger, records: { ...ledger.records, read }, close: async () => {} };
    const { hf } = world.process({ ledger: elsewhere });
    const end = signal();
    hf.define({ type: "mail", run: () => end.reached });
    const { id } = await hf.enqueue("mail", 1);
    await hf.work();
    await world.advance(500);
    expect(await kinds(hf, id)).toEqual(["leased"]);
    isAway = true;
    const { reasons } = await hf.why(id);
    expect(reasons.map(({ kind }) => kind)).toEqual(["leased", "ledger away"]);
    expect(reasons[1]?.message).toContain("no route");
    end.reach();
    await world.advance(500);
    expect(await kinds(hf, id)).toEqual(["finished", "ledger away"]);
    isAway = false;
    expect(await kinds(hf, id)).toEqual(["finished"]);
  });

  it("a dead job says what it died of; what there is not is an error", async () => {
    const { hf } = world.process();
    hf.define({
      type: "mail",
      run() {
        throw new PermanentError("no such address");
      },
    });
    const { id } = await hf.enqueue("mail", 1);
    await hf.work();
    await world.advance(500);
    const why = await hf.why(id);
    expect(why).toMatchObject({ status: "dead", reasons: [{ kind: "finished" }] });
    expect(why.summary).toContain("no such address");
    expect(why.reasons[0]?.remedy).toContain("hf.retry");
    await expect(hf.why("01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d21")).rejects.toThrow(JobNotFoundError);
    await expect(hf.why(7 as never)).rejects.toThrow(InvalidOptionError);
  });
});
