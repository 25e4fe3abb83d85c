/** The load test of the server runs from end to end; its figures are for a quiet machine. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { onlyInFull } from "../runner/tier.ts";

const main = fileURLToPath(new URL("../../bench/server-load/main.ts", import.meta.url));

it("prints each figure with its line, and loses no job", { timeout: 180_000 }, async (test) => {
  onlyInFull(test);
  const argv = ["--conditions=@holdfast/source", main, "--small"];
  const { stdout } = await promisify(execFile)(process.execPath, argv);
  for (const what of ["share of the bare route", "share of the library", "event loop, p99, ms"]) {
    expect(stdout).toMatch(new RegExp(`${what} +[\\d.]+ +line: `));
  }
  for (const what of ["gone", "not succeeded", "ended twice"]) {
    expect(stdout).toMatch(new RegExp(`of those, ${what} +0 +line: 0\n`));
  }
  expect(stdout).toMatch(/ends in the store +2000 +line: 2000\n/);
});
