import { describe, expect, it } from "vitest";
import { builtInKind, kindOfFormat } from "./number-format.ts";
import { dateText, isoCell } from "./serial-date.ts";

describe("dateText", () => {
  it.each([
    [1, "1900-01-01"],
    [59, "1900-02-28"],
    [60, "1900-02-29"],
    [61, "1900-03-01"],
    [25_569, "1970-01-01"],
    [45_351, "2024-02-29"],
    [2_958_465, "9999-12-31"],
    [46_044.5, "2026-01-22T12:00:00"],
    [46_044.430902777778, "2026-01-22T10:20:30"],
    [46_044.000005787, "2026-01-22T00:00:00.500"],
    [46_044.9999999999, "2026-01-23"],
    [0.25, "06:00:00"],
    [0, "00:00:00"],
    [-1, -1],
    [2_958_466, 2_958_466],
  ])("%s is %s", (serial, text) => {
    expect(dateText(serial, "date", false)).toBe(text);
  });

  it("counts from 1904 where a workbook says so", () => {
    expect(dateText(0, "date", true)).toBe("1904-01-01");
    expect(dateText(44_582.75, "date", true)).toBe("2026-01-22T18:00:00");
    expect(dateText(0.5, "time", true)).toBe("12:00:00");
    expect(dateText(2_957_003, "date", true)).toBe("9999-12-31");
    expect(dateText(2_957_004, "date", true)).toBe(2_957_004);
  });

  it("goes on past a day where a format counts hours", () => {
    expect(dateText(1.25, "elapsed", false)).toBe("30:00:00");
    expect(dateText(-0.0625, "elapsed", false)).toBe("-01:30:00");
    expect(dateText(5, "number", false)).toBe(5);
  });

  it("is the same in every zone", () => {
    const zone = process.env["TZ"];
    try {
      for (const one of ["Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kathmandu"]) {
        process.env["TZ"] = one;
        expect(dateText(46_044.5, "date", false)).toBe("2026-01-22T12:00:00");
      }
    } finally {
      if (zone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zone;
    }
  });
});

describe("isoCell", () => {
  it.each([
    ["2026-01-22T00:00:00", "2026-01-22"],
    ["2026-01-22T00:00:00.000Z", "2026-01-22"],
    ["2026-01-22T10:20:30Z", "2026-01-22T10:20:30"],
    ["2026-01-22T10:20:30.500", "2026-01-22T10:20:30.5"],
    ["2026-01-22T10:20:30+02:00", "2026-01-22T10:20:30"],
    ["2026-01-22", "2026-01-22"],
    ["T10:20:30", "10:20:30"],
    ["10:20:30", "10:20:30"],
  ])("%s is %s", (cell, text) => {
    expect(isoCell(cell)).toBe(text);
  });
});

it.each([
  ["10:20:30.500", "10:20:30.5"],
  ["10:20:30.000", "10:20:30"],
  ["10:20:30.", "10:20:30"],
  ["10:20:30.050", "10:20:30.05"],
])("isoCell leaves the zeros at the end of %s out", (cell, text) => {
  expect(isoCell(cell)).toBe(text);
});

/** With a step for each pair of zeros this would take hours. */
it("isoCell reads a million zeros that end in none", () => {
  const cell = `10:20:30.${"0".repeat(1_000_000)}`;
  expect(isoCell(`${cell}x`)).toBe(`${cell}x`);
  expect(isoCell(cell)).toBe("10:20:30");
});

describe("kindOfFormat", () => {
  it.each([
    ["General", "number"],
    ["0.00", "number"],
    ["0.00E+00", "number"],
    ["#,##0.00 [$€-407];[Red]-#,##0.00 [$€-407]", "number"],
    ['0 "days"', "number"],
    ["0\\d", "number"],
    ["[Red]0", "number"],
    ["_-* #,##0.00_-", "number"],
    ["@", "number"],
    ["yyyy-mm-dd", "date"],
    ["[$-409]d mmm yyyy;@", "date"],
    ["mmm", "date"],
    ["dddd", "date"],
    ["m/d/yy h:mm", "date"],
    ["h:mm AM/PM", "time"],
    ["mm:ss.0", "time"],
    ["[h]:mm:ss", "elapsed"],
    ["[mm]:ss", "elapsed"],
    ['"y" 0;yyyy', "number"],
    ["", "number"],
  ])("%s shows a %s", (code, kind) => {
    expect(kindOfFormat(code)).toBe(kind);
  });

  it("looks at as many characters as a format of Excel can have", () => {
    expect(kindOfFormat(`${"0".repeat(251)}yyyy`)).toBe("date");
    expect(kindOfFormat(`${"0".repeat(255)}yyyy`)).toBe("number");
  });

  it("knows the formats that have a number only", () => {
    expect([0, 1, 9, 14, 17, 18, 21, 22, 31, 45, 46, 49, 57].map(builtInKind)).toEqual([
      ...["number", "number", "number", "date", "date", "time", "time", "date", "date"],
      ...["time", "elapsed", "number", "date"],
    ]);
  });
});
