import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvalidOptionError } from "./errors.ts";
import { checkInterval, nextInterval } from "./interval.ts";

describe("nextInterval", () => {
  it("is the anchor until that has come, then steps from it", () => {
    const every = { everyMs: 10_000, anchor: 3000 };
    const asked = [0, 2999, 3000, 12_999, 13_000, 13_000.5];
    expect(asked.map((after) => nextInterval(every, after))).toEqual([
      3000, 3000, 13_000, 13_000, 23_000, 23_000,
    ]);
  });

  it("is the first tick after the instant, a whole number of steps from the anchor", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1000, max: 1e9 }),
        fc.integer({ min: 0, max: 2e12 }),
        fc.integer({ min: 0, max: 4e12 }),
        (everyMs, anchor, after) => {
          const next = nextInterval({ everyMs, anchor }, after);
          expect(next).toBeGreaterThan(after);
          expect((next - anchor) % everyMs).toBe(0);
          if (next !== anchor) expect(next - everyMs).toBeLessThanOrEqual(after);
        },
      ),
    );
  });

  it("does not drift: a tick that is looked at late moves no other", () => {
    const every = { everyMs: 60_000, anchor: 0 };
    const late = [1, 59_999, 30_000, 7].reduce(
      (tick, delay) => nextInterval(every, tick + delay),
      0,
    );
    expect(late).toBe(240_000);
  });
});

describe("checkInterval", () => {
  it("takes from a second to ten years", () => {
    expect(checkInterval({ everyMs: 1000, anchor: 5 })).toEqual({ everyMs: 1000, anchor: 5 });
    for (const everyMs of [0, 999, 1500.5, -1, NaN, Infinity, 1e15, "1000" as never]) {
      expect(() => checkInterval({ everyMs, anchor: 0 })).toThrow(InvalidOptionError);
    }
    for (const anchor of [-1, NaN, Infinity]) {
      expect(() => checkInterval({ everyMs: 1000, anchor })).toThrow(InvalidOptionError);
    }
    expect(() => checkInterval(null as never)).toThrow(InvalidOptionError);
  });
});
