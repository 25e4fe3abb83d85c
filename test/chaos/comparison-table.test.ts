import { describe, expect, it } from "vitest";
import { comparisonTable } from "./comparison-table.ts";
import { CaseOf } from "./judge/case-of.ts";

describe("the table of all stores", () => {
  it("has a column for each store and shows what each has broken", () => {
    const run = (file: CaseOf) => {
      return { verdict: file.verdict(), tookMs: 1, version: "1", folder: null };
    };
    const table = comparisonTable([
      { store: "sqlite", run: run(new CaseOf()) },
      { store: "postgres", run: run(new CaseOf().enqueued("j1", "id1")) },
    ]);
    const row = (name: string) =>
      table
        .split("\n")
        .find((line) => line.trim().startsWith(name))
        ?.trim()
        .split(/\s{2,}/);
    expect(row("sqlite")).toEqual(["sqlite", "postgres"]);
    expect(row("jobs tried")).toEqual(["jobs tried", "0", "1"]);
    expect(row("lost")).toEqual(["lost", "0", "1 BROKEN"]);
    expect(row("verdict")).toEqual(["verdict", "kept", "BROKEN"]);
  });
});
