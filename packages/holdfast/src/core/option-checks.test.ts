import { describe, expect, it } from "vitest";
import { InvalidOptionError } from "./errors.ts";
import {
  checkNumber,
  checkOneOf,
  checkWhole,
  nearestWord,
  refuseUnknown,
} from "./option-checks.ts";

describe("checkWhole", () => {
  it("takes whole numbers inside its range, both ends included", () => {
    for (const value of [1, 2, 10]) expect(checkWhole("n", value, { min: 1, max: 10 })).toBe(value);
    for (const value of [0, 11, 1.5, NaN, Infinity, "1", null, undefined, 1n]) {
      expect(() => checkWhole("n", value, { min: 1, max: 10 })).toThrow(InvalidOptionError);
    }
  });

  it("says the name, the range and the value", () => {
    expect(() => checkWhole("priority", -1, { min: 0, max: 8191 })).toThrow(
      "priority must be a whole number from 0 to 8191, not -1",
    );
  });
});

it("checkNumber takes fractions, but not NaN", () => {
  expect(checkNumber("n", 0.5, { min: 0, max: 1 })).toBe(0.5);
  for (const value of [-0.1, 1.1, NaN, "0.5"]) {
    expect(() => checkNumber("n", value, { min: 0, max: 1 })).toThrow(InvalidOptionError);
  }
});

it("checkOneOf lists the choices", () => {
  expect(() => checkOneOf("onDuplicate", "ignore", ["return", "throw"])).toThrow(
    'onDuplicate must be "return" or "throw", not "ignore"',
  );
});

describe("refuseUnknown", () => {
  const allowed = ["priority", "delayMs", "runAt", "idempotencyKey", "maxAttempts", "group"];

  it("names the option that was meant", () => {
    const meant: Record<string, string> = {
      priorty: "priority",
      delay: "delayMs",
      delayms: "delayMs",
      run_at: "runAt",
      groupKey: "group",
      attempts: "maxAttempts",
    };
    for (const [typed, nearest] of Object.entries(meant)) {
      expect(nearestWord(typed, allowed), typed).toSatisfy((word) => word === nearest);
    }
    expect(() => refuseUnknown("enqueue", { priorty: 1 }, allowed)).toThrow(
      'enqueue has no option "priorty": did you mean "priority"?',
    );
  });

  it("lists what it takes when nothing is near", () => {
    expect(nearestWord("zzzzzzzz", allowed)).toBe(null);
    expect(() => refuseUnknown("enqueue", { zzzzzzzz: 1 }, ["a", "b"])).toThrow("it takes a, b");
  });

  it("lets known options pass", () => {
    expect(() => refuseUnknown("enqueue", { priority: 1, runAt: null }, allowed)).not.toThrow();
  });
});
