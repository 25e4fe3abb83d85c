import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ExactNumber, parseExact, printExact } from "./exact-json.ts";

describe("JSON with exact numbers", () => {
  it("keeps what a number of JavaScript cannot", () => {
    const text = '{"id":9007199254740993,"rate":0.1,"many":[1e3,123456789012345678901234567890]}';
    const value = parseExact(text) as { id: unknown; rate: unknown };
    expect(value.id).toBeInstanceOf(ExactNumber);
    expect(value.rate).toBe(0.1);
    expect(printExact(value, 0)).toBe(
      '{"id":9007199254740993,"rate":0.1,"many":[1000,123456789012345678901234567890]}',
    );
  });

  it("prints any JSON as JSON.stringify does", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // Minus zero is written as 0 by JSON.stringify, and is not kept by it either.
        const text = JSON.stringify(value, null, 2);
        expect(printExact(parseExact(text))).toBe(text);
      }),
      { numRuns: 100 },
    );
  });

  it("does not take __proto__ for anything but a name", () => {
    const value = parseExact('{"__proto__":{"a":1}}') as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(printExact(value, 0)).toBe('{"__proto__":{"a":1}}');
  });
});
