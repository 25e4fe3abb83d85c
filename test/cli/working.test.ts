/** Commands that work for as long as there is work: they end when it does, or when they are told to. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { lendWorker } from "../../packages/cli/src/commands/lend-worker.ts";
import type { FleetWorker, Holdfast } from "../../packages/holdfast/src/index.ts";
import { holdfastOn, makeSeed, useSeed } from "./seeded-store.ts";
import { Terminal } from "./terminal.ts";

describe("work --until-empty", () => {
  let terminal: Terminal;
  let file: string;
  beforeEach(async () => {
    terminal = await Terminal.open();
    await makeSeed(terminal.folder);
    file = useSeed(terminal.folder, terminal.folder);
  });
  afterEach(() => terminal?.close());
  const argv = ["work", "--jobs", "./jobs.ts", "--queues", "mail", "--until-empty"];

  it("ends once its own queues are empty, whatever waits in others", async () => {
    const hf = holdfastOn(file);
    await hf.enqueue("hello.say", { name: "Ann" }, { queue: "default" });
    const { id } = await hf.enqueue("email.send", {}, { queue: "mail" });
    const { code, err } = await terminal.run(argv);
    expect(code, err).toBe(0);
    expect(await hf.job(id)).toMatchObject({ status: "succeeded" });
    await hf.close();
  });

  it("ends when it is told to, although something waits", async () => {
    const hf = holdfastOn(file);
    await hf.pause("mail");
    await hf.enqueue("email.send", {}, { queue: "mail" });
    await hf.close();
    const stopWhen = (written: string) => written.includes("work:start");
    const { code, out } = await terminal.run(argv, { stopWhen });
    expect(code).toBe(0);
    expect(out).toContain("work:end");
  });
});

describe("a lent worker", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function fleet() {
    const state = { workers: [{ id: "killed" }] as unknown as FleetWorker[], started: 0, lent: 0 };
    const work = async () => ({ id: `own-${(state.started += 1)}` });
    const hf = { work, workers: { list: async () => state.workers } } as unknown as Holdfast;
    const onLent = () => (state.lent += 1);
    return { state, lending: () => lendWorker(hf, { isServed: () => true, queue: "q", onLent }) };
  }

  it("takes over from one that was killed, once that is off the record", async () => {
    const { state, lending } = fleet();
    const enough = await lending();
    await vi.advanceTimersByTimeAsync(18_000);
    expect(state.started).toBe(0);
    state.workers = [];
    await vi.advanceTimersByTimeAsync(2_000);
    expect(state).toMatchObject({ started: 1, lent: 1 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(state.started).toBe(1);
    enough();
  });

  it("is not started any more once the work is done", async () => {
    const { state, lending } = fleet();
    const enough = await lending();
    enough();
    state.workers = [];
    await vi.advanceTimersByTimeAsync(60_000);
    expect(state.started).toBe(0);
  });
});
