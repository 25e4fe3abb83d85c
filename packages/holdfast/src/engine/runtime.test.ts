import { describe, expect, it } from "vitest";
import { systemRuntime } from "./runtime.ts";

describe("the load of a process", () => {
  it("tells how long the event loop was blocked since it was asked last, and what is in memory", () => {
    const load = systemRuntime().load!;
    expect(load().memoryBytes).toBeGreaterThan(1_000_000);
    const until = performance.now() + 400;
    while (performance.now() < until);
    expect(load().loopDelayMs).toBeGreaterThanOrEqual(299);
    expect(load().loopDelayMs).toBeLessThan(299);
  });
});
