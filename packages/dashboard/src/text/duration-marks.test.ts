import { describe, expect, it } from "vitest";
import { durationMarks } from "./duration-marks.ts";
import { duration } from "./times.ts";

describe("the lines of an axis of durations", () => {
  it("are round ones, around everything that is shown", () => {
    expect(durationMarks(30, 1_300_000).map(duration)).toEqual([
      ...["10 ms", "100 ms", "1 s", "10 s", "1 min", "10 min", "1 h"],
    ]);
  });

  it("are two at least, also of a single value", () => {
    expect(durationMarks(1_000, 1_000).map(duration)).toEqual(["100 ms", "1 s"]);
    expect(durationMarks(250, 250).map(duration)).toEqual(["100 ms", "1 s"]);
    expect(durationMarks(0.1, 0.1)).toHaveLength(2);
  });
});
