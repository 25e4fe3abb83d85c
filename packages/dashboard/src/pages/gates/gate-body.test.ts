import { describe, expect, it } from "vitest";
import { gateBody, type GateBefore } from "./gate-body.ts";

const before: GateBefore = {
  targets: [
    { queue: "crm", group: "tenant-1" },
    { queue: "crm", group: "tenant-2" },
    { queue: "mail", group: null },
  ],
  rate: [
    { limit: 80, perMs: 10_000, burst: 20 },
    { limit: 250_000, perMs: 86_400_000, burst: 25_000 },
  ],
  breaker: { failures: 8, withinMs: 90_500, openMs: 30_000, probes: 2 },
  countsAsDown: ["network"],
  cooldown: { maxMs: 5_000 },
};
const filled = {
  ...{ queues: "crm mail", per: "", limit: "80", perMs: "10 s", burst: "20" },
  ...{ failures: "8", withinMs: "90500 ms", openMs: "30 s", cooldown: "yes" },
};

describe("a gate that is changed by the form", () => {
  it("is the same gate if nothing was changed", () => {
    const { targets, rate, breaker, countsAsDown, cooldown } = before;
    expect(gateBody(filled, before)).toEqual({
      queue: targets.map(({ queue, group }) => (group === null ? queue : { queue, group })),
      ...{ rate, cooldown, breaker: { ...breaker, countsAsDown } },
    });
  });

  it("keeps its other rates when the first one goes, and its burst when the limit changes", () => {
    expect(gateBody({ ...filled, limit: "" }, before).rate).toEqual(before.rate.slice(1));
    expect(gateBody({ ...filled, limit: "90" }, before).rate?.[0]).toEqual({
      ...{ limit: 90, perMs: 10_000, burst: 20 },
    });
  });

  it("names each queue once, also one that was typed twice", () => {
    expect(gateBody({ queues: "mail, mail new" }, null)).toEqual({ queue: ["mail", "new"] });
  });
});
