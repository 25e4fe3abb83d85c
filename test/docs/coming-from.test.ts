/** What the pages for people from other job systems print are the apps that run. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const PAGES = ["bullmq", "pg-boss", "graphile-worker", "agenda"];

/** Without the comment at its head. */
const bodyOf = (app: string) => app.replace(/^\/\*\*[\s\S]*?\*\/\n/, "");

describe("the pages for people from other job systems", () => {
  for (const name of PAGES) {
    it(`coming-from-${name}.md prints the two apps as they are`, async () => {
      const page = await readFile(join(root, `docs/guides/coming-from-${name}.md`), "utf8");
      const blocks = [...page.matchAll(/^```ts\n\/\/ (.+)\n([\s\S]*?)^```/gm)];
      expect(blocks).toHaveLength(2);
      for (const [, system, block = ""] of blocks) {
        const file = system === "Holdfast" ? "after.ts" : "before.ts";
        const app = await readFile(join(root, "examples/coming-from", name, file), "utf8");
        expect(block).toBe(bodyOf(app));
      }
    });
  }
});
