/** That the benchmark runs and reports. What it measures is nobody's business here: tests assert no times. */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { reportLines, table } from "../../bench/report.ts";
import type { Rounds } from "../../bench/rounds.ts";
import { contenderLines, lossLines } from "../../bench/lines.ts";
import type { Metrics } from "../../bench/scenario.ts";

const MAIN = fileURLToPath(new URL("../../bench/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function bench(...args: string[]): Promise<{ stdout: string }> {
  return promisify(execFile)(process.execPath, [MAIN, ...args]);
}

describe("the benchmark", () => {
  it("runs Holdfast against the raw loop, prints a table and writes every measurement", async () => {
    const json = join(folder, "figures.json");
    const only = ["--only", "enqueue,drain-kept"];
    const { stdout } = await bench(
      ...["--store", "sqlite", "--quick", "--rounds", "1", "--folder", folder, "--json", json],
      ...only,
    );
    expect(stdout).toMatch(/synchronous FULL/);
    // A peer that is not installed is left out with a reason; Holdfast and the raw loop are always there.
    expect(stdout).toMatch(/plainjob +(one worker|left out: not installed)/);
    expect(stdout).toMatch(/enqueue: .*\n +raw +[\d,.]+ +jobs\/s/);
    expect(stdout.match(/holdfast ÷ raw +[\d.]+ +× +at least 0\.\d +(met|MISSED)/g)).toHaveLength(
      2,
    );
    const { samples } = JSON.parse(readFileSync(json, "utf8")) as {
      samples: { scenario: string; samples: { holdfast: Metrics[] } }[];
    };
    expect(samples.map(({ scenario }) => scenario)).toEqual(["enqueue", "drain-kept"]);
    for (const { samples: measured } of samples) {
      expect(measured.holdfast[0]?.["jobsPerSecond"]).toBeGreaterThan(0);
    }
    expect(readdirSync(folder)).toEqual(["figures.json"]);
  }, 120_000);

  it("says what to type when it is called wrongly", async () => {
    const wrong = bench("--store", "sqlite", "--only", "nothing");
    await expect(wrong).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no scenario "nothing"[^]*npm run bench -- --store sqlite/),
    });
  });

  it("computes a ratio within each round, and reports the median of those", () => {
    const lines = reportLines(
      roundsOf({ raw: [100, 1_000, 10], plainjob: [1, 1, 1], holdfast: [50, 900, 6] }),
    );
    expect(lines.find(({ label }) => label === "holdfast ÷ raw")).toMatchObject({
      spread: { median: 0.6, min: 0.5, max: 0.9 },
      met: true,
    });
  });

  it("leaves out the lines of a contender that did not take part", () => {
    const rounds = roundsOf({ raw: [100], holdfast: [50] });
    const lines = reportLines(rounds);
    expect(lines.map(({ label }) => label)).toEqual([
      "raw",
      "holdfast",
      "holdfast ÷ raw",
      "holdfast ÷ the better",
    ]);
    expect(table(rounds, lines)).toMatch(/holdfast ÷ raw +0\.50 +× +at least 0\.6 +MISSED/);
  });

  it("sets Holdfast against the best of several in each round", () => {
    const lines = reportLines(
      roundsOf({ raw: [100, 10, 10], plainjob: [1, 20, 40], holdfast: [50, 60, 80] }),
    );
    expect(lines.find(({ label }) => label === "holdfast ÷ the better")).toMatchObject({
      spread: { median: 2, min: 0.5, max: 3 },
    });
  });

  it("adds up what was lost over all rounds, and wants none of Holdfast's", () => {
    const lost = { jobsPerSecond: 1, lost: 2, twice: 0 };
    const rounds = { ...roundsOf({}), samples: new Map([["holdfast", [lost, lost]]]) };
    const lines = reportLines(rounds);
    expect(lines.find(({ label }) => label === "jobs lost")).toMatchObject({
      totals: { holdfast: 4 },
      met: false,
    });
    expect(table(rounds, lines)).toMatch(/jobs run twice +holdfast 0 +met/);
  });
});

function roundsOf(rates: Readonly<Record<string, readonly number[]>>): Rounds {
  const samples = Object.entries(rates).map(([name, values]): [string, Metrics[]] => [
    name,
    values.map((jobsPerSecond) => ({ jobsPerSecond })),
  ]);
  return {
    scenario: {
      name: "drain",
      title: "a drain",
      variants: () => [],
      lines: [
        ...contenderLines(
          ["raw", "plainjob", "holdfast"],
          [
            { names: ["raw"], target: { atLeast: 0.6 } },
            { names: ["raw", "plainjob"], as: "the better" },
          ],
        ),
        ...lossLines("holdfast"),
      ],
    },
    rounds: samples[0]?.[1].length ?? 0,
    samples: new Map(samples),
    tookMs: 0,
  };
}
