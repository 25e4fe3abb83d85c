import { describe, expect, it } from "vitest";
import { inTier, notRun, onlyInFull, TIER, tierFrom } from "./tier.ts";

describe("the tier of a test run", () => {
  it("is the daily one unless somebody asks for the full one", () => {
    expect([tierFrom(), tierFrom(""), tierFrom("daily")]).toEqual(["daily", "daily", "daily"]);
    expect(tierFrom("full")).toBe("full");
  });

  it("is never guessed", () => {
    expect(() => tierFrom("Full")).toThrow('HOLDFAST_TEST_TIER is daily or full, not "Full"');
  });

  it("decides how often something is asked", () => {
    expect(inTier({ daily: "daily", full: "full" })).toBe(TIER);
  });

  it("ends a test of the full tier with a reason, in the daily one only", () => {
    const ended: unknown[] = [];
    onlyInFull({ skip: (condition, note) => void ended.push([condition, note]) });
    expect(ended).toEqual([[TIER === "daily", "full tier"]]);
  });

  it("names what was not run, and why", () => {
    expect(notRun("a million steps")).toBe("not run: a million steps (full tier)");
    expect(notRun("x", "no server")).toBe("not run: x (no server)");
  });
});
