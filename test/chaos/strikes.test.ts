import { describe, expect, it } from "vitest";
import { FAULT_KINDS, planStrikes, spare } from "./strikes.ts";

const ON_PROCESSES = { kills: 50, commitKills: 6, stops: 10, terms: 5, producerKills: 3 };
const ON_SERVERS = { faults: 8, restarts: 3, serverKills: 1, outages: 2, failovers: 2, moves: 4 };
const COUNTS = { ...ON_PROCESSES, ...ON_SERVERS };
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
    expect(count("cut off")).toBe(8);
    expect(count("restart server")).toBe(3);
    expect(count("kill server")).toBe(1);
    expect(count("outage")).toBe(2);
    expect(count("kill after commit")).toBe(6);
    expect(count("fail over")).toBe(2);
    expect(count("move slots")).toBe(4);
  });

  it("cuts processes off in every way, and as often in each", () => {
    const faults = planStrikes(COUNTS, SETTINGS).flatMap(({ kind, fault }) =>
      kind === "cut off" ? [fault] : [],
    );
    expect(faults).toEqual([...FAULT_KINDS, ...FAULT_KINDS]);
  });

  it("stops workers and takes the store away for longer than a lease", () => {
    for (const { kind, lengthMs } of planStrikes(COUNTS, SETTINGS)) {
      if (kind !== "cut off") expect(lengthMs).toBeGreaterThan(SETTINGS.leaseMs);
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
