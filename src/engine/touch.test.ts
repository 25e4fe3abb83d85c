import { describe, expect, it } from "vitest";
import { Touch } from "./touch.ts";

describe("Touch", () => {
  it("grows while the store answers", () => {
    const touch = new Touch({ longestGapMs: 5 });
    expect(touch.lengthMs(0)).toBe(0);
    for (const now of [10, 13, 16]) touch.answered(now);
    expect(touch.lengthMs(18)).toBe(8);
  });

  it("starts again after a failed call", () => {
    const touch = new Touch({ longestGapMs: 5 });
    touch.answered(10);
    touch.broken();
    expect(touch.lengthMs(11)).toBe(0);
    touch.answered(12);
    expect(touch.lengthMs(14)).toBe(2);
  });

  it("is lost by a process that was frozen itself", () => {
    const touch = new Touch({ longestGapMs: 5 });
    touch.answered(10);
    expect(touch.lengthMs(100)).toBe(0);
    touch.answered(101);
    expect(touch.lengthMs(102)).toBe(1);
  });
});
