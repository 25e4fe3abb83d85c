import { describe, expect, it } from "vitest";
import { duration, moment, parseDuration, relative, withLocalTimes } from "./times.ts";

describe("durations as people read them", () => {
  it("has one unit and two figures", () => {
    const told = [0, 0.2, 40, 999, 1_000, 4_100, 9_960, 59_000, 246_000, 7_200_000, 172_800_000];
    expect(told.map(duration)).toEqual([
      ...["0 ms", "< 1 ms", "40 ms", "999 ms", "1 s", "4.1 s", "10 s", "59 s", "4.1 min", "2 h"],
      "2 days",
    ]);
  });

  it("is read as it is written", () => {
    expect(["90 s", "15min", "1.5h", "14 days", "250"].map(parseDuration)).toEqual([
      ...[90_000, 900_000, 5_400_000, 1_209_600_000, 250],
    ]);
    for (const wrong of ["", "soon", "-1 s", "1 week", "1e9 h"]) {
      expect(parseDuration(wrong)).toBeNull();
    }
  });

  it("says how far something is from now, on both sides", () => {
    const now = Date.parse("2026-11-18T12:00:00Z");
    expect(relative("2026-11-18T11:54:00Z", now)).toBe("6 min ago");
    expect(relative("2026-11-18T12:00:30Z", now)).toBe("in 30 s");
    expect(relative("2026-11-18T12:00:00.4Z", now)).toBe("now");
  });

  it("shows instants inside a sentence like all others", () => {
    const now = Date.parse("2026-11-18T12:00:00Z");
    const at = "2026-11-18T12:32:04.838Z";
    expect(withLocalTimes(`Queue reports is paused until ${at}.`, now)).toBe(
      `Queue reports is paused until ${moment(at, now)}.`,
    );
    expect(withLocalTimes("month 2026-11 is late", now)).toBe("month 2026-11 is late");
  });
});
