/** The check of `docs/systems.md` finds what is missing, and what is said of tests that did not pass. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { outlineIds, outlineOf } from "./systems/outline.ts";
import type { RanFile } from "./systems/ran-tests.ts";
import { idFaults, readSystems, testFaults } from "./systems/systems-page.ts";

const PAGE = new URL("../../docs/systems.md", import.meta.url);

function page(...lines: readonly string[]): string {
  return ["| Id | There | Now | Shown by |", "| --- | --- | --- | --- |", ...lines].join("\n");
}

function ran(passed: readonly string[], skipped: readonly string[] = []) {
  const file: RanFile = { passed, skipped, tier: "daily", at: "2026-01-01T00:00:00.000Z" };
  return new Map([["test/a.test.ts", file]]);
}

const ONE = "| 1.1 | a queue | here | `test/a.test.ts › does it` |";
const whole = { isWhole: true, isFull: false };

describe("docs/systems.md", () => {
  it("has a line for every id of the five systems, with a place and a test", async () => {
    const lines = readSystems(await readFile(PAGE, "utf8"));
    expect(idFaults(lines, outlineIds())).toEqual([]);
    expect(lines.length).toBeGreaterThan(300);
  });

  it("names the lines that nothing shows yet, and there is none", async () => {
    const lines = readSystems(await readFile(PAGE, "utf8"));
    expect(lines.filter(({ isShown }) => !isShown).map(({ id }) => id)).toEqual([]);
  });
});

describe("the check of that page", () => {
  it("finds an id without a line, with two, and one that is none", () => {
    const lines = readSystems(page(ONE, ONE, ONE.replace("1.1", "9.9")));
    expect(idFaults(lines, ["1.1", "1.2", "1.2.1"])).toEqual([
      ...["1.1 has two lines", "9.9 is no id of the five systems"],
      ...["1.2 has no line", "1.2.1 has no line"],
    ]);
  });

  it("finds a line without a place, and one without a test that does not say so", () => {
    const lines = readSystems(
      page("| 1.1 | a | | `test/a.test.ts › x` |", "| 1.2 | b | here | by eye |"),
    );
    expect(idFaults(lines, ["1.1", "1.2"])).toEqual([
      "1.1 does not say where it lives now",
      '1.2 names no test, and is not "not shown yet"',
    ]);
    const open = readSystems(page("| 1.1 | a | here | not shown yet |"));
    expect(idFaults(open, ["1.1"])).toEqual([]);
    expect(open[0]?.isShown).toBe(false);
  });

  it("finds a test that failed, was renamed, or whose file did not run", () => {
    const lines = readSystems(page(ONE));
    expect(testFaults(lines, ran(["a thing > does it"]), whole).faults).toEqual([]);
    expect(testFaults(lines, ran(["a thing > does it well"]), whole).faults).toEqual([
      "1.1: test/a.test.ts › does it: is none of those that passed",
    ]);
    expect(testFaults(lines, new Map(), whole).faults).toEqual([
      "1.1: test/a.test.ts › does it: that file did not run",
    ]);
    expect(testFaults(lines, new Map(), { ...whole, isWhole: false }).faults).toEqual([]);
  });

  it("lets a test of the full tier wait in the daily one only", () => {
    const lines = readSystems(page(ONE));
    const skipped = ran([], ["a thing > does it"]);
    expect(testFaults(lines, skipped, whole)).toEqual({
      faults: [],
      waiting: ["1.1: test/a.test.ts › does it"],
    });
    expect(testFaults(lines, skipped, { ...whole, isFull: true }).faults).toEqual([
      "1.1: test/a.test.ts › does it: was skipped",
    ]);
  });
});

describe("ids of a text", () => {
  const text = [
    ...["# One", "", "## Two", "- an item", "", "| A | B |", "|---|---|", "| 1 | 2 |"],
    ...["```", "# no heading", "| no | row |", "```", "### Three", "1. first", "2. second"],
  ].join("\n");

  it("are its headings, the rows of its tables, and the items of lists that count", () => {
    expect(outlineOf("4", text)).toEqual({ sections: 3, rows: { 2: 2, 3: 2 } });
    expect(outlineOf("2", text)).toEqual({ sections: 3, rows: { 2: 1 } });
    expect(outlineIds({ 4: outlineOf("4", text) })).toEqual([
      ...["4.1", "4.2", "4.2.1", "4.2.2", "4.3", "4.3.1", "4.3.2"],
    ]);
  });
});
