import { describe, expect, it } from "vitest";
import { slowest } from "./slow-files.ts";

describe("the slowest files", () => {
  it("are named with their seconds, the slowest first, and no more than asked for", () => {
    const files = [
      { file: "b.test.ts", ms: 12_345 },
      { file: "c.test.ts", ms: 40 },
      { file: "a.test.ts", ms: 120_000 },
    ];
    expect(slowest(files, 2)).toEqual(["  120.0 s  a.test.ts", "   12.3 s  b.test.ts"]);
  });
});
