import { describe, expect, it } from "vitest";
import { keepingText, parseKeeping, type KeepRule } from "./keeping.ts";

describe("how long jobs are kept", () => {
  it("is read as it is shown, by age, by number or by both", () => {
    const rules: (KeepRule | null)[] = [
      ...[null, { maxAgeMs: 86_400_000 }, { maxAgeMs: 90_500 }, { maxCount: 1_000 }],
      { maxAgeMs: 1_209_600_000, maxCount: 0 },
    ];
    for (const rule of rules) expect(parseKeeping(keepingText(rule))).toEqual(rule);
    expect(keepingText({ maxAgeMs: 1_209_600_000, maxCount: 50 })).toBe("14 days, at most 50");
    expect(keepingText(undefined)).toBe("");
  });

  it("is refused where it is neither", () => {
    for (const wrong of ["", "soon", "0 s", "at most", "at most many", "14 days, at least 3"]) {
      expect(parseKeeping(wrong)).toBeUndefined();
    }
  });
});
