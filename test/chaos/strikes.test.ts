import { describe, expect, it } from "vitest";
import { planStrikes, spare } from "./strikes.ts";

const COUNTS = { kills: 50, stops: 10, terms: 5, producerKills: 3 };
const SETTINGS = { seed: 7, spacingMs: 1_000, leaseMs: 10_000 };

describe("the schedule of strikes", () => {
  it("is the same for the same seed, and another for another", () => {
    const strikes = planStrikes(COUNTS, SETTINGS);
    expect(planStrikes(COUNTS, SETTINGS)).toEqual(strikes);
    expect(planStrikes(COUNTS, { ...SETTINGS, seed: 8 })).not.toEqual(strikes);
  });

  it("holds every strike that was asked for", () => {
    const strikes = planStrikes(COUNTS, SETTINGS);
    const count = (kind: string) => strikes.filter((strike) => strike.kind === kind).length;
    expect(count("kill")).toBe(50);
    expect(count("stop")).toBe(10);
    expect(count("terminate")).toBe(5);
    expect(count("kill producer")).toBe(3);
  });

  it("stops workers for longer than their leases", () => {
    for (const { lengthMs } of planStrikes(COUNTS, SETTINGS)) {
      expect(lengthMs).toBeGreaterThan(SETTINGS.leaseMs);
    }
  });
});

describe("who is left alone", () => {
  const now = 100_000;
  const at = { now, leaseMs: 10_000, before: null };
  const elder = { name: "elder", healthySince: now - 11_000 };
  const second = { name: "second", healthySince: now - 20_000 };
  const young = { name: "young", healthySince: now - 1_000 };
  const younger = { name: "younger", healthySince: now - 500 };

  it("is always one that may reap, if there is one", () => {
    for (const pick of [0, 0.5, 0.99]) {
      expect(spare([young, elder, younger], { ...at, pick, before: "young" })).toBe("elder");
    }
  });

  it("goes round among those that may", () => {
    const picked = [0, 0.9].map((pick) => spare([elder, young, second], { ...at, pick }));
    expect(picked).toEqual(["elder", "second"]);
  });

  it("stays the same until there is one that may", () => {
    expect(spare([young, younger], { ...at, pick: 0.9, before: "younger" })).toBe("younger");
  });

  it("is the oldest if the one before is gone", () => {
    expect(spare([younger, young], { ...at, pick: 0.9, before: "elder" })).toBe("young");
    expect(spare([], { ...at, pick: 0 })).toBeNull();
  });
});
