import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InvalidOptionError, type Logger } from "holdfast";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Manifest } from "./manifest.ts";

const types = ["ap", "budgetForecast"];
const said: string[] = [];
const logger: Logger = {
  debug() {},
  info: (message) => void said.push(message),
  warn: (message) => void said.push(message),
  error() {},
};
let folder: string;
let source: string;
let writes = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-manifest-"));
  source = join(folder, "import-manifest.json");
  said.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(content: unknown): void {
  writeFileSync(source, typeof content === "string" ? content : JSON.stringify(content));
  // Two writes within one tick of the disk's clock are told apart.
  writes += 1;
  utimesSync(source, 1_000 + writes, 1_000 + writes);
}

const AP = { "Accounts-Payable.xlsx": { type: "ap", sheetName: "AP Data" } };

it("says the type and the sheet of a file", () => {
  write(AP);
  const manifest = new Manifest({ source, types, logger });
  expect(manifest.find("Accounts-Payable.xlsx")).toEqual({ type: "ap", sheetName: "AP Data" });
  expect(manifest.find("constructor")).toBe(null);
  expect(manifest.find("accounts-payable.xlsx")).toBe(null);
});

it("is read again when it has changed", () => {
  write(AP);
  const manifest = new Manifest({ source, types, logger });
  write({ "Budget-Forecast.xlsx": { type: "budgetForecast" } });
  expect(manifest.find("Accounts-Payable.xlsx")).toBe(null);
  expect(manifest.find("Budget-Forecast.xlsx")).toEqual({ type: "budgetForecast" });
});

it("goes on as it was after a change that is broken, and says so once", () => {
  write(AP);
  const manifest = new Manifest({ source, types, logger });
  write("{ not JSON");
  for (const _ of [1, 2, 3]) expect(manifest.find("Accounts-Payable.xlsx")?.type).toBe("ap");
  expect(said.filter((line) => line.includes("the one before goes on"))).toHaveLength(1);
  expect(manifest.problem).toContain("is not JSON");
  write(AP);
  expect(manifest.problem).toBe(null);
});

describe("a process does not start with", () => {
  it.each([
    ["no file", null, "cannot be read: ENOENT"],
    ["what is no object", [], "is an object"],
    ["an unknown type", { "a.xlsx": { type: "app" } }, "none of ap, budgetForecast"],
    ["an unknown field", { "a.xlsx": { type: "ap", sheet: "x" } }, 'did you mean "sheetName"'],
    ["a folder in a name", { "../a.xlsx": { type: "ap" } }, "has no folder"],
    ["another kind of file", { "a.xls": { type: "ap" } }, "only .xlsx and .csv"],
    ["row 0", { "a.xlsx": { type: "ap", headerRow: 0 } }, "from 1"],
  ])("%s", (_name, content, words) => {
    if (content !== null) write(content);
    const open = () => new Manifest({ source, types, logger });
    expect(open).toThrow(InvalidOptionError);
    expect(open).toThrow(words);
  });
});
