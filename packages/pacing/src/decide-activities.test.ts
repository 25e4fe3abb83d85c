import { describe, expect, it } from "vitest";
import { bitsOf, firstBits, ordinalsOf, RecordChance } from "./decide-activities.ts";
import { ACTIVITIES, DEFAULT_PARAMS, mergeParams } from "./scenario.ts";
import { thinningFactor } from "./thinning.ts";
import { activityKey, recordKey } from "./external-key.ts";

const params = mergeParams(DEFAULT_PARAMS, {
  probabilities: { note: 0.5, call: 0.3, task: 0.2, ticket: 0.05 },
  caps: { note: 3, call: 2, task: 1, ticket: 1 },
});

function countAll(factor: number): number[] {
  const counts = ACTIVITIES.map(() => 0);
  for (let index = 0; index < 20_000; index += 1) {
    const { masks } = new RecordChance("sim", index).wanted(params, factor);
    masks.forEach((mask, at) => (counts[at] = counts[at]! + bitsOf(mask)));
  }
  return counts;
}

describe("the activities of a record", () => {
  it("are the same on every run and machine", () => {
    const made = Array.from({ length: 12 }, (_, index) =>
      new RecordChance("sim-1", index).wanted(params, 1).masks.join(" "),
    );
    expect(made).toMatchSnapshot();
    expect(recordKey("sim-1", 7)).toMatchInlineSnapshot(`"6fbe3c32-82c9-8f5a-922e-bca7664fceb6"`);
    expect(activityKey("sim-1", { index: 7, type: "note", ordinal: 0 })).toMatchInlineSnapshot(
      `"89947023-fc95-893b-85ee-e376c626d4be"`,
    );
  });

  it("happen as often as their probabilities say", () => {
    const expected = ACTIVITIES.map(
      (type) => 20_000 * params.probabilities[type] * params.caps[type],
    );
    countAll(1).forEach((count, at) => {
      expect(Math.abs(count - expected[at]!)).toBeLessThan(4 * Math.sqrt(expected[at]!));
    });
  });

  it("do not change for one type when a knob of another is turned", () => {
    const other = mergeParams(params, { probabilities: { note: 0.9 }, caps: { note: 5 } });
    for (let index = 0; index < 200; index += 1) {
      const chance = new RecordChance("sim", index);
      expect(chance.wanted(other, 1).masks.slice(1)).toEqual(
        chance.wanted(params, 1).masks.slice(1),
      );
    }
  });

  it("keep their shape when they are thinned", () => {
    const [all, thinned] = [countAll(1), countAll(0.4)];
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
    const chi = thinned.reduce((total, count, at) => {
      const expected = (sum(thinned) * all[at]!) / sum(all);
      return total + (count - expected) ** 2 / expected;
    }, 0);
    // 3 degrees of freedom at 0.999.
    expect(chi).toBeLessThan(16.3);
    expect(Math.abs(sum(thinned) / sum(all) - 0.4)).toBeLessThan(0.02);
  });

  it("are a part of the unthinned ones, the same part each time", () => {
    for (let index = 0; index < 500; index += 1) {
      const chance = new RecordChance("sim", index);
      const [all, some] = [chance.wanted(params, 1), chance.wanted(params, 0.5)];
      some.masks.forEach((mask, at) => expect(mask & ~all.masks[at]!).toBe(0));
      expect(some.before).toBe(all.after);
    }
  });

  it("win as many deals as the win rate says", () => {
    const won = Array.from({ length: 10_000 }, (_, index) =>
      new RecordChance("deals", index).isDealWon(0.3),
    ).filter(Boolean).length;
    expect(Math.abs(won - 3_000)).toBeLessThan(180);
  });
});

describe("bits", () => {
  it("are counted, listed and cut", () => {
    expect(bitsOf(0b1011)).toBe(3);
    expect(ordinalsOf(0b1011)).toEqual([0, 1, 3]);
    expect(firstBits(0b1011, 2)).toBe(0b0011);
    expect(firstBits(0b1011, 0)).toBe(0);
  });
});

describe("the thinning factor", () => {
  const rule = { backlog: 100, least: 0.1 };

  it("is 1 as long as there is no pressure, and falls with the backlog", () => {
    expect(thinningFactor(rule, { waiting: 100, isDown: false })).toBe(1);
    expect(thinningFactor(rule, { waiting: 200, isDown: false })).toBe(0.5);
    expect(thinningFactor(rule, { waiting: 0, isDown: true })).toBe(0.5);
    expect(thinningFactor(rule, { waiting: 1_000_000, isDown: true })).toBe(0.1);
    expect(thinningFactor(null, { waiting: 1_000_000, isDown: true })).toBe(1);
  });
});
