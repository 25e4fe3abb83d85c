import { describe, expect, it } from "vitest";
import { runsOf } from "./runs-of.ts";

describe("runsOf", () => {
  it("cuts where a name comes again, and keeps the order", () => {
    const runs = runsOf([1, 2, 3, 1, 2, 4, 1], (number) => number);
    expect(runs).toEqual([[1, 2, 3], [1, 2, 4], [1]]);
  });

  it("makes one run of what has no repeats, and none of nothing", () => {
    expect(runsOf([1, 2, 3], (number) => number)).toEqual([[1, 2, 3]]);
    expect(runsOf([], (item) => item)).toEqual([]);
  });
});
