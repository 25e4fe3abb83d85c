/** Links between our own pages lead somewhere. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { brokenLinks, linkedPages } from "./broken-links.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

async function pages(): Promise<string[]> {
  const top = (await readdir(root)).filter((name) => name.endsWith(".md"));
  const docs = await readdir(join(root, "docs"), { recursive: true });
  return [...top, ...docs.filter((name) => name.endsWith(".md")).map((name) => join("docs", name))];
}

describe("the pages", async () => {
  for (const page of await pages()) {
    it(`${page} links to things that exist`, async () => {
      expect(await brokenLinks(root, page)).toEqual([]);
    });
  }

  it("a reader finds each guide and reference from the README or from another of them", async () => {
    const wanted = (await pages()).filter((page) => /^docs.(guides|reference)/.test(page));
    const readers = ["README.md", ...wanted];
    const found = new Set<string>();
    for (const page of readers) {
      for (const linked of await linkedPages(root, page)) if (linked !== page) found.add(linked);
    }
    expect(wanted.filter((page) => !found.has(page))).toEqual([]);
  });
});
