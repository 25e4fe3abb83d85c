import { describe, expect, it } from "vitest";
import { UnsupportedError } from "../core/errors.ts";
import { checkNode } from "./check-node.ts";

describe("checkNode", () => {
  it("lets the floor and everything newer pass", () => {
    for (const version of ["22.13.0", "22.20.1", "24.0.0", "26.10.0"]) checkNode(version);
  });

  it("says in one sentence what an old Node lacks", () => {
    for (const version of ["18.20.0", "20.20.2", "22.12.0"]) {
      expect(() => checkNode(version)).toThrow(UnsupportedError);
    }
    expect(() => checkNode("20.20.2")).toThrow(/needs Node 22\.13 or newer, and this is 20\.20\.2/);
  });
});
