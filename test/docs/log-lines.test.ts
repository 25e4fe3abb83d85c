import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const SOURCES = [
  "packages/holdfast/src/engine/lease",
  "packages/cli/src/commands",
  "packages/cli/src/output",
  "packages/imports/src/job",
];

/** `event: "job:dead"` in what is given to a logger. */
function written(): string[] {
  const files = SOURCES.flatMap((folder) =>
    readdirSync(`${root}/${folder}`)
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
      .map((name) => readFileSync(`${root}/${folder}/${name}`, "utf8")),
  );
  const found = files.flatMap((text) => [...text.matchAll(/\bevent: "([\w:]+)"/g)]);
  return [...new Set(found.map(([, event = ""]) => event))];
}

it("the page of log lines has each that is written, and no other", () => {
  const page = readFileSync(`${root}/docs/guides/ship-your-logs.md`, "utf8");
  const rows = [...page.matchAll(/^\| `([\w:]+)` +\| (?:debug|info|warn|error) /gm)];
  expect(rows.map(([, event = ""]) => event).toSorted()).toEqual(written().toSorted());
});
