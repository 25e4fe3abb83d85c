import { describe, expect, it } from "vitest";
import { retryAfterMs } from "./retry-after.ts";

const NOW = Date.UTC(2030, 0, 1, 0, 0, 0);
const of = (value: unknown) => retryAfterMs({ "retry-after": value }, NOW);

describe("retryAfterMs", () => {
  it("reads seconds, rounded up to whole milliseconds", () => {
    expect(of("0")).toBe(0);
    expect(of("120")).toBe(120_000);
    expect(of(" 3 ")).toBe(3000);
    expect(of("0.0001")).toBe(1);
    expect(of(2)).toBe(2000);
  });

  it("reads a date, and a past one as now", () => {
    expect(of("Tue, 01 Jan 2030 00:00:05 GMT")).toBe(5000);
    expect(of("Mon, 31 Dec 2029 23:00:00 GMT")).toBe(0);
  });

  it("takes nonsense for no header at all", () => {
    const bad = [
      "",
      "soon",
      "-5",
      "1e3",
      "5 s",
      "2030-01-01",
      "Xyz, 99 Foo 2030 00:00:00 GMT",
      NaN,
      -1,
      null,
      {},
      [],
    ];
    for (const value of bad) expect(of(value)).toBe(null);
  });

  it("is bounded, whatever the other side asks for", () => {
    expect(of("9".repeat(400))).toBe(10 * 365 * 86_400_000);
  });

  it("finds the header in every usual kind of headers", () => {
    const kinds = [
      new Headers({ "Retry-After": "5" }),
      new Map([["retry-after", "5"]]),
      new Map([["Retry-After", "5"]]),
      { "Retry-After": "5" },
      { "RETRY-AFTER": ["5", "6"] },
      { get: () => undefined, "retry-after": "5" },
    ];
    for (const headers of kinds) expect(retryAfterMs(headers, NOW)).toBe(5000);
    for (const headers of [undefined, null, "retry-after: 5", {}, new Headers(), new Map()]) {
      expect(retryAfterMs(headers, NOW)).toBe(null);
    }
  });
});
