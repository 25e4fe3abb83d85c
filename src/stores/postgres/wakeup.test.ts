import { describe, expect, it } from "vitest";
import type { Wakeup } from "../../core/store.ts";
import { payloadsOf, Wakeups } from "./wakeup.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a message to other processes", () => {
  it("is one for what fits into one", () => {
    const payloads = payloadsOf("me", { queues: ["a", "b"], finished: ["1"] });
    expect(payloads.map((payload) => JSON.parse(payload) as unknown)).toEqual([
      { from: "me", queues: ["a", "b"], finished: ["1"] },
    ]);
  });

  it("is several for what does not, each within the bounds of PostgreSQL", () => {
    const finished = Array.from({ length: 500 }, (_, index) => `${index}`.padStart(36, "0"));
    const payloads = payloadsOf("me", { queues: ["grüße"], finished });
    expect(payloads.length).toBeGreaterThan(1);
    for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThan(8_000);
    const all = payloads.flatMap((payload) => (JSON.parse(payload) as Wakeup).finished);
    expect(all).toEqual(finished);
  });

  it("leaves to the poll what is too much", () => {
    const finished = Array.from({ length: 50_000 }, (_, index) => `${index}`.padStart(36, "0"));
    expect(payloadsOf("me", { queues: [], finished }).length).toBeLessThan(10);
    const payloads = payloadsOf("me", { queues: ["x".repeat(9_000), "short"], finished: [] });
    expect(payloads.flatMap((payload) => (JSON.parse(payload) as Wakeup).queues)).toEqual([
      "short",
    ]);
  });
});

describe("wakeups", () => {
  it("are gathered for a turn of the event loop", async () => {
    const sent: Wakeup[] = [];
    const wakeups = new Wakeups("me");
    wakeups.open(async (payload) => void sent.push(JSON.parse(payload) as Wakeup));
    wakeups.committed(["a"], []);
    for (const id of ["1", "2", "3"]) wakeups.committed(["b"], [id]);
    await wakeups.close();
    expect(sent.map(({ queues, finished }) => [queues, finished])).toEqual([
      [
        ["a", "b"],
        ["1", "2", "3"],
      ],
    ]);
  });

  it("name no finished jobs to others when there are very many", async () => {
    const sent: Wakeup[] = [];
    const wakeups = new Wakeups("me");
    wakeups.open(async (payload) => void sent.push(JSON.parse(payload) as Wakeup));
    const finished = Array.from({ length: 200 }, (_, index) => `${index}`);
    wakeups.committed([], finished);
    await turn();
    wakeups.committed(["a"], finished);
    await wakeups.close();
    expect(sent.map(({ queues, finished: named }) => [queues, named])).toEqual([[["a"], []]]);
  });

  it("come once from the process itself, and from others whatever they say", async () => {
    const heard: Wakeup[] = [];
    const wakeups = new Wakeups("me");
    wakeups.open(async (payload) => wakeups.arrived(payload));
    wakeups.listen((wakeup) => void heard.push(wakeup));
    wakeups.committed(["a"], ["1"]);
    await turn();
    expect(heard).toEqual([{ queues: ["a"], finished: ["1"] }]);
    const nonsense = ["", "null", "7", "{}", '{"from":"x","queues":[1],"finished":[]}', "{"];
    for (const payload of nonsense) wakeups.arrived(payload);
    wakeups.arrived('{"from":"you","queues":["b"],"finished":[]}');
    await turn();
    expect(heard.slice(1)).toEqual([{ queues: ["b"], finished: [] }]);
    await wakeups.close();
  });

  it("that cannot be sent are no trouble", async () => {
    const wakeups = new Wakeups("me");
    wakeups.open(() => Promise.reject(new Error("the server is away")));
    wakeups.committed(["a"], []);
    await turn();
    await wakeups.close();
  });
});
