import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Sketch } from "./sketch.ts";

function sketchOf(values: readonly number[]): Sketch {
  const sketch = new Sketch();
  for (const value of values) sketch.add(value);
  return sketch;
}

const durations = fc.array(fc.double({ min: 0.07, max: 2 ** 30, noNaN: true }), { minLength: 1 });

describe("a sketch of durations", () => {
  it("tells every quantile within 4.5 %, and average and maximum exactly", () => {
    fc.assert(
      fc.property(durations, fc.double({ min: 0.01, max: 1, noNaN: true }), (values, share) => {
        const sketch = sketchOf(values);
        const sorted = values.toSorted((one, other) => one - other);
        const exact = sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1]!;
        expect(Math.abs(sketch.quantile(share) - exact)).toBeLessThanOrEqual(exact * 0.045 + 0.001);
        const sum = values.reduce((total, value) => total + value, 0);
        expect(sketch.durations().max).toBeCloseTo(sorted.at(-1)!, 2);
        expect(sketch.durations().avg).toBeCloseTo(sum / values.length, 2);
        expect(sketch.durations().count).toBe(values.length);
      }),
    );
  });

  it("is the same whether it saw all of them or was put together from parts, in any order", () => {
    fc.assert(
      fc.property(durations, durations, (some, others) => {
        const whole = sketchOf([...some, ...others]).data();
        const stored = new Sketch();
        stored.addData(JSON.parse(JSON.stringify(sketchOf(others).data())) as number[]);
        stored.addData(sketchOf(some).data());
        expect(stored.data().slice(2)).toEqual(whole.slice(2));
        const added = sketchOf(some);
        added.addSketch(sketchOf(others));
        expect(added.data().slice(2)).toEqual(whole.slice(2));
        expect(added.data()[0]).toBeCloseTo(whole[0]!, 0);
      }),
    );
  });

  it("is bounded whatever it is given", () => {
    const sketch = sketchOf([0, -5, Number.NaN, 1e-9, 1e300, Infinity]);
    expect(sketch.count).toBe(6);
    expect(sketch.data().length).toBeLessThan(300);
    expect(new Sketch().data()).toEqual([]);
    expect(new Sketch().durations()).toEqual({
      ...{ count: 0, avg: 0, p50: 0, p95: 0, p99: 0, max: 0 },
    });
  });

  it("passes over data that is none", () => {
    const sketch = new Sketch();
    sketch.addData([]);
    sketch.addData([1, 2]);
    sketch.addData([5, 5, 9_999, 1]);
    expect(sketch.count).toBe(1);
  });
});
