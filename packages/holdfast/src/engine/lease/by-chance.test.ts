import { describe, expect, it } from "vitest";
import { byChance } from "./by-chance.ts";

/** The same in each run. */
function chances(): { random: () => number } {
  let state = 42;
  return { random: () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647 };
}

describe("the order in which the queues of a worker are asked", () => {
  it("has each of them first as often as it weighs", () => {
    const shares = [
      { queue: "a", weight: 3 },
      { queue: "b", weight: 1 },
      { queue: "c", weight: 1 },
    ];
    const runtime = chances();
    const first = { a: 0, b: 0, c: 0 };
    for (let call = 0; call < 10_000; call += 1) {
      const [head] = byChance(shares, runtime);
      first[head!.queue as keyof typeof first] += 1;
    }
    expect(Math.abs(first.a - 6_000)).toBeLessThan(200);
    expect(Math.abs(first.b - 2_000)).toBeLessThan(200);
    expect(Math.abs(first.c - 2_000)).toBeLessThan(200);
  });

  it("has the others behind it in the same way, and forgets none", () => {
    const shares = ["empty", "a", "b"].map((queue) => ({ queue, weight: 1 }));
    const runtime = chances();
    let before = 0;
    for (let call = 0; call < 10_000; call += 1) {
      const names = byChance(shares, runtime).map(({ queue }) => queue);
      expect(names.toSorted()).toEqual(["a", "b", "empty"]);
      if (names.indexOf("a") < names.indexOf("b")) before += 1;
    }
    expect(Math.abs(before - 5_000)).toBeLessThan(200);
  });
});
