import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

describe("docs/reference/rules.md", () => {
  it("names a test for every rule, and every named test exists", async () => {
    const text = await readFile(join(root, "docs/reference/rules.md"), "utf8");
    const rows = text.split("\n").filter((line) => /^\| (?!Question|-)/.test(line));
    expect(rows.length).toBeGreaterThan(25);
    for (const row of rows) {
      const [, file, claim] = /`([\w-]+\.test\.ts) › ([^`]+)` *\|$/.exec(row) ?? [];
      expect(file, row).toBeDefined();
      const tests = await readFile(join(root, "test/rules", file!), "utf8");
      expect(tests, `${file} › ${claim}`).toContain(`it("${claim}"`);
    }
  });

  it("has a row for every test of a rule's own file or a neighbour's", async () => {
    const files = (await readdir(join(root, "test/rules"))).filter((file) => /test/.test(file));
    const text = await readFile(join(root, "docs/reference/rules.md"), "utf8");
    for (const file of files) expect(text, file).toContain(`${file} › `);
  });
});
