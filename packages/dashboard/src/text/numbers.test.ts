import { describe, expect, it } from "vitest";
import { bytes, cappedCount, count, percent, plural, rate, shortCount } from "./numbers.ts";

describe("numbers as people read them", () => {
  it("has thousands apart, and says where a store stopped counting", () => {
    expect([count(1204), count(0), cappedCount(9_999), cappedCount(10_000)]).toEqual([
      ...["1,204", "0", "9,999", "10k+"],
    ]);
  });

  it("shortens without rounding up to what is not reached", () => {
    const short = [999, 1_000, 9_999, 48_213, 999_999, 1_250_000].map(shortCount);
    expect(short).toEqual(["999", "1k", "9.9k", "48k", "999k", "1.2M"]);
  });

  it("tells small rates and shares from none", () => {
    const rates = [0, 0.016, 0.25, 0.5, 9.94, 210.4].map(rate);
    expect(rates).toEqual(["0", "0.02", "0.25", "0.5", "9.9", "210"]);
    expect([0, 0.0001, 0.061, 0.5].map(percent)).toEqual(["0", "< 0.1", "6.1", "50"]);
  });

  it("says one job, and two jobs", () => {
    expect([plural(1, "job"), plural(2, "job"), plural(0, "crash", "crashes")]).toEqual([
      ...["1 job", "2 jobs", "0 crashes"],
    ]);
    expect([bytes(512), bytes(1536), bytes(80 * 1024 ** 2)]).toEqual([
      "512 B",
      "1.5 KiB",
      "80 MiB",
    ]);
  });
});
