import { describe, expect, it } from "vitest";
import type { Wakeup } from "../../core/store.ts";
import { Wakeups } from "./wakeups.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("wakeups", () => {
  it("are gathered for a turn of the event loop", async () => {
    const sent: Wakeup[] = [];
    const wakeups = new Wakeups();
    wakeups.open(async (wakeup) => void sent.push(wakeup));
    wakeups.done(["a"], []);
    for (const id of ["1", "2", "3"]) wakeups.done(["b"], [id]);
    await wakeups.close();
    expect(sent).toEqual([{ queues: ["a", "b"], finished: ["1", "2", "3"] }]);
  });

  it("name no finished jobs to others when there are very many", async () => {
    const sent: Wakeup[] = [];
    const wakeups = new Wakeups();
    wakeups.open(async (wakeup) => void sent.push(wakeup));
    const finished = Array.from({ length: 200 }, (_, index) => `${index}`);
    wakeups.done([], finished);
    await turn();
    wakeups.done(["a"], finished);
    await wakeups.close();
    expect(sent).toEqual([{ queues: ["a"], finished: [] }]);
  });

  it("name no finished jobs to others when others name very many", async () => {
    const sent: Wakeup[] = [];
    const wakeups = new Wakeups();
    wakeups.open(async (wakeup) => void sent.push(wakeup));
    const finished = Array.from({ length: 50 }, (_, index) => `${index}`);
    for (let order = 0; order < 9; order += 1) wakeups.arrived({ queues: [], finished });
    wakeups.done([], finished);
    await wakeups.close();
    expect(sent).toEqual([{ queues: [], finished }]);
    wakeups.open(async (wakeup) => void sent.push(wakeup));
    wakeups.done(["a"], ["one more"]);
    await wakeups.close();
    expect(sent[1]).toEqual({ queues: ["a"], finished: [] });
  });

  it("come once, whether from this process or from others, and never for nothing", async () => {
    const heard: Wakeup[] = [];
    const wakeups = new Wakeups();
    wakeups.listen((wakeup) => void heard.push(wakeup));
    wakeups.done([], []);
    await turn();
    expect(heard).toEqual([]);
    wakeups.done(["a"], ["1"]);
    await turn();
    wakeups.arrived({ queues: ["b"], finished: [] });
    await turn();
    expect(heard).toEqual([
      { queues: ["a"], finished: ["1"] },
      { queues: ["b"], finished: [] },
    ]);
    await wakeups.close();
  });

  it("that were expected go to other processes only", async () => {
    const sent: Wakeup[] = [];
    const heard: Wakeup[] = [];
    const wakeups = new Wakeups();
    wakeups.open(async (wakeup) => void sent.push(wakeup));
    wakeups.listen((wakeup) => void heard.push(wakeup));
    wakeups.done(["a", "b"], [], undefined, new Set(["a"]));
    await turn();
    expect(heard).toEqual([{ queues: ["b"], finished: [] }]);
    await wakeups.close();
    expect(sent).toEqual([{ queues: ["a", "b"], finished: [] }]);
  });

  it("of work on its way are for this process only", async () => {
    const sent: Wakeup[] = [];
    const heard: Wakeup[] = [];
    const wakeups = new Wakeups();
    wakeups.open(async (wakeup) => void sent.push(wakeup));
    wakeups.expected(["nobody listens"]);
    wakeups.listen((wakeup) => void heard.push(wakeup));
    wakeups.expected([]);
    wakeups.expected(["a"]);
    await turn();
    expect(heard).toEqual([{ queues: ["a"], finished: [] }]);
    await wakeups.close();
    expect(sent).toEqual([]);
  });

  it("go out at once, and then once in a while, however many come", async () => {
    const sent: Wakeup[] = [];
    const wakeups = new Wakeups();
    wakeups.open(async (wakeup) => void sent.push(wakeup));
    let turns = 0;
    for (const until = performance.now() + 50; performance.now() < until; turns++) {
      wakeups.done([`${turns}`], []);
      await turn();
      if (turns === 0) expect(sent).toHaveLength(1);
    }
    await wakeups.close();
    expect(sent.flatMap(({ queues }) => queues)).toHaveLength(turns);
    // One at once, at most one every ten milliseconds, and the last.
    expect(sent.length).toBeLessThanOrEqual(8);
  });

  it("that cannot be sent are no trouble", async () => {
    const wakeups = new Wakeups();
    wakeups.open(() => Promise.reject(new Error("the server is away")));
    wakeups.done(["a"], []);
    await turn();
    await wakeups.close();
  });
});
