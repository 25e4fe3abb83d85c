import { describe, expect, it, vi } from "vitest";
import { Crowd } from "./crowd.ts";

const ALL = { tried: 10, got: 10 };
const SOME = { tried: 10, got: 3 };

describe("callers in front of one line", () => {
  it("alone one always begins with the first job", () => {
    const crowd = new Crowd();
    for (let call = 0; call < 100; call += 1) {
      expect(crowd.leaves("mail", 20)).toBe(0);
      crowd.claimed("mail", ALL);
    }
  });

  it("whoever came too late leaves whole reads to others, and never more than sixteen", () => {
    const crowd = new Crowd();
    const left = new Set<number>();
    for (let call = 0; call < 500; call += 1) {
      crowd.claimed("mail", SOME);
      left.add(crowd.leaves("mail", 20) / 20);
    }
    expect(left.size).toBeGreaterThan(10);
    for (const reads of left) expect(Number.isInteger(reads) && reads <= 16).toBe(true);
    expect(crowd.leaves("reports", 20)).toBe(0);
  });

  it("whoever gets what was read is back at the first job after as many calls", () => {
    const crowd = new Crowd();
    for (let call = 0; call < 20; call += 1) crowd.claimed("mail", SOME);
    const reads = crowd.leaves("mail", 20) / 20;
    for (let call = 0; call < reads; call += 1) crowd.claimed("mail", ALL);
    expect(crowd.leaves("mail", 20)).toBe(0);
  });

  it("whoever has met nobody for a second begins with the first job, however few its calls", () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      const crowd = new Crowd();
      do crowd.claimed("mail", SOME);
      while (crowd.leaves("mail", 20) === 0);
      vi.advanceTimersByTime(1_001);
      expect(crowd.leaves("mail", 20)).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("whoever finds nothing behind what was left begins with the first job", () => {
    const crowd = new Crowd();
    for (let call = 0; call < 20; call += 1) crowd.claimed("mail", SOME);
    crowd.isOver("mail");
    expect(crowd.leaves("mail", 20)).toBe(0);
  });
});
