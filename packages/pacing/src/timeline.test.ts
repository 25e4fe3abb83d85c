import { describe, expect, it } from "vitest";
import { InvalidOptionError } from "holdfast";
import { curveOf, type Distribution } from "./distribution.ts";
import { Timeline, type Plan } from "./timeline.ts";

const HOUR = 3_600_000;
const START = Date.UTC(2026, 2, 2);
const base: Plan = {
  ...{ start: START, end: START + 14 * 24 * HOUR, count: 10_000, seed: "golden" },
  ...{ distribution: { shape: "uniform" }, segmentMs: HOUR },
};
const weekly: Distribution = {
  shape: "weekly",
  timeZone: "America/New_York",
  days: [1, 5, 5, 5, 5, 4, 2],
  hours: Array.from({ length: 24 }, (_, hour) => (hour < 7 ? 0 : hour < 19 ? 3 : 1)),
};
const SHAPES: readonly Distribution[] = [
  ...([{ shape: "uniform" }, { shape: "linear" }, { shape: "linear", from: 3, to: 1 }] as const),
  ...([{ shape: "front-loaded" }, { shape: "back-loaded" }, { shape: "bell" }] as const),
  { shape: "business-hours", timeZone: "Europe/Berlin" },
  weekly,
  { shape: "weights", weights: [1, 0, 5, 2] },
  {
    shape: "points",
    points: [
      { at: 0, weight: 0 },
      { at: 0.3, weight: 4 },
      { at: 1, weight: 1 },
    ],
  },
];

describe.each(
  SHAPES.map((distribution) => [JSON.stringify(distribution).slice(0, 60), distribution]),
)("the distribution %s", (_, distribution) => {
  const timeline = new Timeline({ ...base, distribution: distribution as Distribution });

  it("gives the same instants on every machine", () => {
    const some = [0, 1, 4_999, 9_998, 9_999].map((index) => timeline.at(index) - START);
    expect(some).toMatchSnapshot();
  });

  it("never goes back, and stays inside of its span", () => {
    let before = START;
    for (let index = 0; index < base.count; index += 1) {
      const at = timeline.at(index);
      expect(at).toBeGreaterThanOrEqual(before);
      before = at;
    }
    expect(before).toBeLessThan(base.end);
  });

  it("has its shape by the test of chi-square", () => {
    const curve = curveOf(distribution, base);
    const bins = 50;
    const width = (base.end - base.start) / bins;
    const seen = Array.from({ length: bins }, () => 0);
    for (let index = 0; index < base.count; index += 1) {
      const bin = Math.floor((timeline.at(index) - START) / width);
      seen[bin] = seen[bin]! + 1;
    }
    let sum = 0;
    seen.forEach((count, bin) => {
      const share = curve.share((bin + 1) / bins) - curve.share(bin / bins);
      const expected = share * base.count;
      if (expected < 1) expect(count).toBeLessThanOrEqual(1);
      else sum += (count - expected) ** 2 / expected;
    });
    // 49 degrees of freedom at 0.999; instants that are spread evenly stay far below it.
    expect(sum).toBeLessThan(85.4);
  });

  it("cuts into segments that hold each index once", () => {
    let next = 0;
    for (let number = 0; number < timeline.segmentCount; number += 1) {
      const { firstIdx, lastIdx, count, start, end } = timeline.segment(number);
      expect(firstIdx).toBe(next);
      expect(lastIdx - firstIdx + 1).toBe(count);
      if (count > 0) {
        expect(timeline.at(firstIdx)).toBeGreaterThanOrEqual(start);
        expect(timeline.at(lastIdx)).toBeLessThan(end);
        expect(timeline.segmentOf(lastIdx)).toBe(number);
      }
      next += count;
    }
    expect(next).toBe(base.count);
  });
});

describe("a timeline", () => {
  it("keeps business hours over a change of clocks", () => {
    // Clocks in Berlin go forward on 29 March 2026.
    const start = Date.UTC(2026, 2, 23);
    const plan = { ...base, start, end: start + 14 * 24 * HOUR, count: 2_000 };
    const distribution = { shape: "business-hours", timeZone: "Europe/Berlin" } as const;
    const timeline = new Timeline({ ...plan, distribution });
    const local = new Intl.DateTimeFormat("en-GB", {
      ...{ timeZone: "Europe/Berlin", weekday: "short", hour: "2-digit", hourCycle: "h23" },
    });
    const words = new Set<string>();
    for (let index = 0; index < plan.count; index += 1) words.add(local.format(timeline.at(index)));
    const hours = [...words].map((word) => Number(word.replace(/\D+/g, "")));
    expect([Math.min(...hours), Math.max(...hours)]).toEqual([9, 16]);
    expect([...words].some((word) => word.startsWith("S"))).toBe(false);
  });

  it("finds the last of ten million without those before it", () => {
    const timeline = new Timeline({ ...base, count: 10_000_000, distribution: { shape: "bell" } });
    expect(timeline.at(9_999_999)).toBeLessThan(base.end);
    expect(timeline.countBefore(timeline.at(5_000_000))).toBeLessThanOrEqual(5_000_000);
    expect(timeline.planned(10).reduce((sum, count) => sum + count, 0)).toBe(10_000_000);
  });

  it("exports its instants as differences", () => {
    const timeline = new Timeline({ ...base, count: 100 });
    const { first, deltas } = timeline.deltas(10, 20);
    const again = [
      first!,
      ...deltas.map((_, at) => first! + deltas.slice(0, at + 1).reduce((a, b) => a + b, 0)),
    ];
    expect(again).toEqual(Array.from({ length: 20 }, (_, at) => timeline.at(10 + at)));
    expect(timeline.deltas(100, 5)).toEqual({ first: null, deltas: [] });
  });

  it.each([
    [{ shape: "weights", weights: [0, 0] }, "no weight"],
    [{ shape: "weights", weights: [-1] }, "distribution.weights[0]"],
    [{ shape: "bel" }, 'did you mean "bell"?'],
    [{ shape: "business-hours", timeZone: "Mars/Olympus" }, "is not known here"],
    [{ shape: "weekly", timeZone: "UTC", days: [1, 2] }, "distribution.days has 7 weights"],
    [{ shape: "linear", form: 1 }, "did you mean"],
    [{ shape: "points", points: [{ at: 0, weight: 1 }] }, "begins at 0"],
  ])("refuses %j and says why", (distribution, words) => {
    const make = () => new Timeline({ ...base, distribution: distribution as Distribution });
    expect(make).toThrow(InvalidOptionError);
    expect(make).toThrow(words);
  });
});
