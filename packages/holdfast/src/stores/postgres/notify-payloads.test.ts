import { describe, expect, it } from "vitest";
import type { Wakeup } from "../../core/store.ts";
import { heardBy } from "../shared/wakeup-message.ts";
import { notifyPayloads } from "./notify-payloads.ts";

describe("a message to other processes", () => {
  it("is one for what fits into one", () => {
    const payloads = notifyPayloads("me", { queues: ["a", "b"], finished: ["1"] });
    expect(payloads.map((payload) => JSON.parse(payload) as unknown)).toEqual([
      { from: "me", queues: ["a", "b"], finished: ["1"] },
    ]);
  });

  it("says how many jobs were added, and the sender's lot", () => {
    const wakeup = { queues: ["a"], finished: [], added: 3, lot: 0.25 };
    expect(notifyPayloads("me", wakeup).map((payload) => heardBy("you", payload))).toEqual([
      { from: "me", ...wakeup },
    ]);
  });

  it("says nothing of how many if it is one of several", () => {
    const queues = Array.from({ length: 500 }, (_, index) => `queue-${index}`.padEnd(40, "x"));
    const payloads = notifyPayloads("me", { queues, finished: [], added: 500, lot: 0.25 });
    const heard = payloads.map((payload) => heardBy("you", payload));
    expect(heard.length).toBeGreaterThan(1);
    for (const wakeup of heard) expect(wakeup).not.toMatchObject({ added: expect.anything() });
    expect(heard.flatMap((wakeup) => wakeup?.queues ?? [])).toEqual(queues);
  });

  it("is several for what does not, each within the bounds of PostgreSQL", () => {
    const finished = Array.from({ length: 500 }, (_, index) => `${index}`.padStart(36, "0"));
    const payloads = notifyPayloads("me", { queues: ["grüße"], finished });
    expect(payloads.length).toBeGreaterThan(1);
    for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThan(8_000);
    const all = payloads.flatMap((payload) => (JSON.parse(payload) as Wakeup).finished);
    expect(all).toEqual(finished);
  });

  it("leaves to the poll what is too much", () => {
    const finished = Array.from({ length: 50_000 }, (_, index) => `${index}`.padStart(36, "0"));
    expect(notifyPayloads("me", { queues: [], finished }).length).toBeLessThan(10);
    const payloads = notifyPayloads("me", { queues: ["x".repeat(9_000), "short"], finished: [] });
    expect(payloads.flatMap((payload) => (JSON.parse(payload) as Wakeup).queues)).toEqual([
      "short",
    ]);
  });
});
