import fc from "fast-check";
import { expect, it } from "vitest";
import { cellNumber } from "./cell-number.ts";

const numberOf = (text: string) => cellNumber(Buffer.from(text), 0, Buffer.byteLength(text));

it("a number of a cell is the one that JavaScript reads", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(numberOf(String(value))).toBe(value + 0);
    }),
    { numRuns: 2_000 },
  );
  fc.assert(
    fc.property(
      fc.integer({ min: -1e9, max: 1e9 }),
      fc.integer({ min: 0, max: 9 }),
      (whole, places) => {
        const text = (whole / 10 ** places).toFixed(places);
        expect(numberOf(text)).toBe(Number(text) + 0);
      },
    ),
    { numRuns: 2_000 },
  );
});

it("what is no number is none", () => {
  for (const text of [
    "",
    "-",
    ".",
    "1.2.3",
    "0x10",
    "1e",
    "Infinity",
    "NaN",
    "1,5",
    "1 2",
    "--1",
    "1e999",
  ]) {
    expect(numberOf(text), text).toBeNaN();
  }
  expect([numberOf(" 7 "), numberOf("+7"), numberOf("7."), numberOf(".5"), numberOf("-0")]).toEqual(
    [...[7, 7, 7, 0.5, 0]],
  );
});

/** With a step for each pair of digits this would take hours. */
it("a million digits and a letter are no number", () => {
  expect(numberOf(`${"1".repeat(1_000_000)}x`)).toBeNaN();
  expect(numberOf(`${"1".repeat(1_000_000)}.${"1".repeat(1_000_000)}x`)).toBeNaN();
});
