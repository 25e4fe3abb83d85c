import { describe, expect, it } from "vitest";
import { seededRandom } from "../testing/seeded-random.ts";
import { fullInMs, giveBack, takeTokens, type Buckets, type Rate } from "./rate.ts";

const RATE: Rate = { limit: 10, perMs: 1_000, burst: 3 };

describe("a rate", () => {
  it("grants its burst at once, and then as tokens come back", () => {
    let [buckets, taken] = takeTokens({}, [RATE], { least: 1, wanted: 5 }, 0);
    expect(taken).toEqual({ granted: 3, waitMs: 0 });
    [buckets, taken] = takeTokens(buckets, [RATE], { least: 1, wanted: 5 }, 99);
    expect(taken).toEqual({ granted: 0, waitMs: 1 });
    [buckets, taken] = takeTokens(buckets, [RATE], { least: 1, wanted: 5 }, 100);
    expect(taken.granted).toBe(1);
    [, taken] = takeTokens(buckets, [RATE], { least: 2, wanted: 2 }, 200);
    expect(taken).toEqual({ granted: 0, waitMs: 100 });
    expect(fullInMs(buckets, [RATE], 100)).toBe(300);
  });

  it("a clock that runs backwards brings nothing and loses nothing", () => {
    const [buckets] = takeTokens({}, [RATE], { least: 1, wanted: 3 }, 1_000);
    const [, back] = takeTokens(buckets, [RATE], { least: 1, wanted: 1 }, 500);
    expect(back.granted).toBe(0);
    const [, on] = takeTokens(buckets, [RATE], { least: 1, wanted: 1 }, 1_100);
    expect(on.granted).toBe(1);
  });

  it("what is taken ahead leaves half of the rest to others", () => {
    const plenty = { limit: 100, perMs: 1_000, burst: 100 };
    const [, taken] = takeTokens({}, [plenty], { least: 1, wanted: 20, ahead: 100 }, 0);
    expect(taken.granted).toBe(60);
  });

  it("a grant needs every rate of a list", () => {
    const daily = { limit: 2, perMs: 86_400_000, burst: 2 };
    const [buckets, taken] = takeTokens({}, [RATE, daily], { least: 1, wanted: 5 }, 0);
    expect(taken.granted).toBe(2);
    const [, none] = takeTokens(buckets, [RATE, daily], { least: 1, wanted: 1 }, 1_000);
    expect(none).toEqual({ granted: 0, waitMs: 43_200_000 - 1_000 });
  });

  /** What was used, in every window; some of what is taken comes back later. */
  it("in every window at most limit and burst are used, whatever comes back and when", () => {
    const random = seededRandom(7);
    const upTo = (most: number) => 1 + Math.floor(random() * most);
    for (let round = 0; round < 300; round += 1) {
      const rate = { limit: upTo(50), perMs: upTo(2_000), burst: upTo(20) };
      let buckets: Buckets = {};
      let now = 0;
      const used: number[] = [];
      const out: { tokens: number; takenAt: number }[] = [];
      for (let step = 0; step < 200; step += 1) {
        now += Math.floor(random() * (rate.perMs / 10));
        const [after, { granted }] = takeTokens(
          buckets,
          [rate],
          { least: 1, wanted: upTo(9) },
          now,
        );
        buckets = after;
        const spent = Math.floor(random() * (granted + 1));
        used.push(...Array.from({ length: spent }, () => now));
        if (granted > spent) out.push({ tokens: granted - spent, takenAt: now });
        if (random() < 0.5 && out.length > 0) {
          const [back] = out.splice(Math.floor(random() * out.length), 1);
          buckets = giveBack(buckets, [rate], back!, now);
        }
      }
      for (const [at, from] of used.entries()) {
        const inWindow = used.slice(at).filter((to) => to - from < rate.perMs).length;
        expect(inWindow).toBeLessThanOrEqual(rate.limit + rate.burst);
      }
    }
  });

  it("what is given back late is given back less what came in since", () => {
    const [empty] = takeTokens({}, [RATE], { least: 1, wanted: 3 }, 0);
    const soon = giveBack(empty, [RATE], { tokens: 3, takenAt: 0 }, 0);
    expect(takeTokens(soon, [RATE], { least: 1, wanted: 9 }, 0)[1].granted).toBe(3);
    // Full again by itself, and taken again by another.
    const [again] = takeTokens(empty, [RATE], { least: 1, wanted: 3 }, 300);
    const late = giveBack(again, [RATE], { tokens: 3, takenAt: 0 }, 300);
    expect(takeTokens(late, [RATE], { least: 1, wanted: 9 }, 300)[1].granted).toBe(0);
  });
});
