import { describe, expect, it } from "vitest";
import { Clock, instantAfter } from "./clock.ts";

describe("the memory store's clock", () => {
  it("stands still while the host's clock is behind, and goes on when it has caught up", () => {
    let host = 1_000;
    const clock = new Clock(() => host);
    expect(clock.now()).toBe(1_000);
    host = 400;
    expect(clock.now()).toBe(1_000);
    host = 1_001;
    expect(clock.now()).toBe(1_001);
  });

  it("gives a fence of its microseconds, or the last one and 1 when that is more", () => {
    const clock = new Clock(() => 5);
    clock.now();
    expect(clock.fenceAfter(0)).toBe(5_000);
    expect(clock.fenceAfter(5_000)).toBe(5_001);
    expect(clock.fenceAfter(9_999)).toBe(10_000);
  });

  it("gives growing fences also after the host's clock jumped back", () => {
    let host = 2_000;
    const clock = new Clock(() => host);
    clock.now();
    const first = clock.fenceAfter(0);
    host = 1;
    clock.now();
    expect(clock.fenceAfter(first)).toBe(first + 1);
    expect(clock.fenceAfter(0)).toBe(first);
  });

  it("never cuts a wait short", () => {
    expect(instantAfter(100, 0.2)).toBe(101);
    expect(instantAfter(100, -5)).toBe(100);
  });
});
