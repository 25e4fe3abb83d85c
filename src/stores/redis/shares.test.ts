import { describe, expect, it } from "vitest";
import { Shares } from "./shares.ts";

/** The sums of so many splits. */
function sums(weights: readonly number[], limit: number, calls: number): number[] {
  const shares = new Shares();
  const demands = weights.map((weight, index) => ({ queue: `q${index}`, weight }));
  const total = weights.map(() => 0);
  for (let call = 0; call < calls; call++) {
    for (const [q, share] of shares.split(demands, limit).entries())
      total[q] = (total[q] ?? 0) + share;
  }
  return total;
}

describe("shares of queues", () => {
  it("are alike", () => {
    expect(sums([1, 1, 1], 9, 1)).toEqual([3, 3, 3]);
  });

  it("follow the weights, also one job at a time", () => {
    expect(sums([3, 1], 1, 40)).toEqual([30, 10]);
    expect(sums([3, 1], 8, 5)).toEqual([30, 10]);
  });

  it("always add up", () => {
    for (const limit of [0, 1, 2, 7, 100]) {
      const shares = new Shares().split(
        [5, 1, 2].map((weight, index) => ({ queue: `q${index}`, weight })),
        limit,
      );
      expect(shares.reduce((sum, share) => sum + share)).toBe(limit);
    }
  });

  it("starve nobody, however little it weighs", () => {
    expect(sums([1_000, 1], 1, 2_002)[1]).toBeGreaterThan(0);
  });

  it("take a weight that is none as one", () => {
    expect(sums([0, 1], 2, 10)).toEqual([10, 10]);
  });

  it("are not saved up by a queue that had nothing", () => {
    const shares = new Shares();
    const demands = ["a", "b"].map((queue) => ({ queue, weight: 1 }));
    for (let call = 0; call < 10; call++) {
      shares.split(demands, 1);
      shares.unfilled(demands[0]!);
    }
    const [first, second] = shares.split(demands, 10);
    expect([first, second]).toEqual([5, 5]);
  });
});
