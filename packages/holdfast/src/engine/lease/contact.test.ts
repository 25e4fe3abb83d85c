import { describe, expect, it } from "vitest";
import { Touch } from "./contact.ts";

function answeredAt(touch: Touch, ...times: number[]): void {
  for (const now of times) touch.answered(touch.asked(now), now);
}

describe("Touch", () => {
  it("grows while the store answers", () => {
    const touch = new Touch({ longestGapMs: 5 });
    expect(touch.lengthMs(0)).toBe(0);
    answeredAt(touch, 10, 13, 16);
    expect(touch.lengthMs(18)).toBe(8);
  });

  it("starts again after a failed call", () => {
    const touch = new Touch({ longestGapMs: 5 });
    answeredAt(touch, 10);
    touch.broken(touch.asked(10));
    expect(touch.lengthMs(11)).toBe(0);
    answeredAt(touch, 12);
    expect(touch.lengthMs(14)).toBe(2);
  });

  it("is lost by a process that was frozen itself", () => {
    const touch = new Touch({ longestGapMs: 5 });
    answeredAt(touch, 10);
    expect(touch.lengthMs(100)).toBe(0);
    answeredAt(touch, 101);
    expect(touch.lengthMs(102)).toBe(1);
  });

  it("is lost while one call hangs, though others are answered", () => {
    const touch = new Touch({ longestGapMs: 5 });
    answeredAt(touch, 10);
    const hanging = touch.asked(11);
    answeredAt(touch, 14, 16);
    expect(touch.lengthMs(16)).toBe(6);
    answeredAt(touch, 18);
    expect(touch.lengthMs(18)).toBe(0);
    touch.answered(hanging, 19);
    expect(touch.lengthMs(20)).toBe(1);
  });
});
