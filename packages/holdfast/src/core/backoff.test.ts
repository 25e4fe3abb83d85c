import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { attemptsOr, backoffMs, checkRetry, DEFAULT_RETRY, type RetryPolicy } from "./backoff.ts";
import { InvalidOptionError } from "./errors.ts";

const MIDDLE = 0.5;
const waits = (policy: RetryPolicy, count: number) =>
  Array.from({ length: count }, (_, index) => backoffMs(policy, index + 1, null, MIDDLE));

describe("backoffMs", () => {
  it("doubles from one second up to one minute by default", () => {
    expect(waits({}, 8)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    expect(waits(DEFAULT_RETRY, 8)).toEqual(waits({}, 8));
  });

  it("spreads the wait to both sides by the jitter", () => {
    expect(backoffMs({ jitter: 0.2 }, 1, null, 0)).toBe(800);
    expect(backoffMs({ jitter: 0.2 }, 1, null, 0.999_999)).toBe(1199);
    expect(backoffMs({ jitter: 0 }, 1, null, 0.9)).toBe(1000);
    expect(backoffMs({ jitter: 1 }, 1, null, 0)).toBe(0);
  });

  it("is a whole number from 0 to maxMs * (1 + jitter), whatever the policy", () => {
    fc.assert(
      fc.property(
        fc.record({
          baseMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
          factor: fc.double({ min: 1, max: 1000, noNaN: true }),
          maxMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
          jitter: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
        fc.integer({ min: -5, max: 5000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (policy, failed, random) => {
          const ms = backoffMs(policy, failed, null, random);
          expect(Number.isInteger(ms)).toBe(true);
          expect(ms).toBeGreaterThanOrEqual(0);
          expect(ms).toBeLessThanOrEqual(policy.maxMs * (1 + policy.jitter));
        },
      ),
    );
  });

  it("never shrinks from one failed attempt to the next", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), (failed) => {
        const policy = { baseMs: 3, factor: 1.5, maxMs: 1e6 };
        expect(backoffMs(policy, failed + 1, null, MIDDLE)).toBeGreaterThanOrEqual(
          backoffMs(policy, failed, null, MIDDLE),
        );
      }),
    );
  });

  it("waits not at all with a base of 0, however many attempts failed", () => {
    expect(backoffMs({ baseMs: 0 }, 5000, null, MIDDLE)).toBe(0);
  });

  it("takes a list as it is and repeats its last entry", () => {
    expect(waits({ delaysMs: [10, 500, 20] }, 5)).toEqual([10, 500, 20, 20, 20]);
    expect(backoffMs({ delaysMs: [1000] }, 1, null, 0)).toBe(1000);
  });

  it("spreads a list only if a jitter is asked for", () => {
    expect(backoffMs({ delaysMs: [1000], jitter: 0.5 }, 1, null, 0)).toBe(500);
  });

  it("asks a function with the number of failed attempts and the error", () => {
    const error = new Error("x");
    const delay = (failed: number, seen: unknown) => (seen === error ? failed * 7.9 : -1);
    expect(backoffMs({ delay }, 3, error, 0)).toBe(23);
  });

  it("falls back to exponential when the function has no usable answer", () => {
    const bad = [NaN, -1, -Infinity, undefined, "5", null, {}];
    for (const answer of bad) {
      expect(backoffMs({ delay: () => answer as number }, 2, null, MIDDLE)).toBe(2000);
    }
    const throws = () => {
      throw new Error("bug");
    };
    expect(backoffMs({ delay: throws, baseMs: 10 }, 2, null, MIDDLE)).toBe(20);
  });

  it("bounds what a function may ask for", () => {
    expect(backoffMs({ delay: () => Infinity }, 1, null, MIDDLE)).toBe(10 * 365 * 86_400_000);
  });
});

describe("checkRetry", () => {
  it("tells attempts that a type names from those it does not", () => {
    expect(attemptsOr(checkRetry({ maxAttempts: 5 }), 3)).toBe(5);
    expect(attemptsOr(checkRetry({ baseMs: 10 }), 3)).toBe(3);
    expect(attemptsOr(checkRetry(undefined), 3)).toBe(3);
  });

  it("fills in the defaults", () => {
    expect(checkRetry(undefined)).toEqual(DEFAULT_RETRY);
    expect(checkRetry({})).toEqual({ ...DEFAULT_RETRY, attemptsByDefault: true });
    expect(checkRetry({ maxAttempts: 3, baseMs: undefined })).toEqual({
      ...DEFAULT_RETRY,
      maxAttempts: 3,
    });
    expect(checkRetry({ delaysMs: [5] })).toMatchObject({ delaysMs: [5], jitter: 0 });
  });

  it("takes every limit and refuses what is beyond it", () => {
    const limits: [keyof RetryPolicy, number[], unknown[]][] = [
      ["maxAttempts", [1, 2, 999, 1000], [0, 1001, 1.5, -1, NaN, Infinity, "5"]],
      ["baseMs", [0, 1, 60_000], [-1, NaN, Infinity, "1"]],
      ["factor", [1, 1.5, 1000], [0, 0.99, 1001, NaN, -2]],
      ["maxMs", [1000, 10 * 365 * 86_400_000], [-1, NaN, 10 * 365 * 86_400_000 + 1]],
      ["jitter", [0, 0.5, 1], [-0.1, 1.1, NaN]],
    ];
    for (const [name, good, bad] of limits) {
      for (const value of good) expect(checkRetry({ [name]: value })[name]).toBe(value);
      for (const value of bad) {
        expect(() => checkRetry({ [name]: value }), `${name} ${String(value)}`).toThrow(
          InvalidOptionError,
        );
      }
    }
  });

  it("refuses a list that is empty, endless or holds nonsense", () => {
    const bad = [[], [-1], [NaN], ["1"], Array(1001).fill(1), 5, "1,2"];
    for (const delaysMs of bad) {
      expect(() => checkRetry({ delaysMs } as RetryPolicy)).toThrow(InvalidOptionError);
    }
    expect(() => checkRetry({ delaysMs: [1, -1] })).toThrow("retry.delaysMs[1]");
  });

  it("refuses a list together with a function, and a function that is none", () => {
    expect(() => checkRetry({ delaysMs: [1], delay: () => 1 })).toThrow(/not both/);
    expect(() => checkRetry({ delay: 5 } as unknown as RetryPolicy)).toThrow(InvalidOptionError);
  });

  it("refuses a base that could never be waited", () => {
    expect(() => checkRetry({ baseMs: 60_001 })).toThrow(/raise maxMs/);
    expect(checkRetry({ baseMs: 60_001, maxMs: 60_001 }).baseMs).toBe(60_001);
  });

  it("refuses what is no policy and names a misspelt option", () => {
    for (const policy of [5, null, [], "x"]) {
      expect(() => checkRetry(policy as unknown as RetryPolicy)).toThrow(InvalidOptionError);
    }
    expect(() => checkRetry({ attempts: 3 } as RetryPolicy)).toThrow('did you mean "maxAttempts"?');
  });

  it("keeps its own copy of the list", () => {
    const delaysMs = [1, 2];
    const policy = checkRetry({ delaysMs });
    delaysMs.push(3);
    expect(policy.delaysMs).toEqual([1, 2]);
  });
});
