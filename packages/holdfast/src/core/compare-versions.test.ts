import { expect, test } from "vitest";
import { compareVersions } from "./compare-versions.ts";

test("versions are compared by their numbers, from left to right", () => {
  expect(compareVersions("2.10.0", "2.9.1")).toBeGreaterThan(0);
  expect(compareVersions("2.9", "v3")).toBeLessThan(0);
  expect(compareVersions("1.2", "1.2.0")).toBe(0);
  expect(compareVersions("release-7", "release-12")).toBeLessThan(0);
});

test("what has no numbers is neither newer nor older", () => {
  expect(compareVersions("blue", "2.0")).toBe(0);
  expect(compareVersions(null, "2.0")).toBe(0);
});
