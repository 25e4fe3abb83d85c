/** Links between our own pages lead somewhere. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

async function pages(): Promise<string[]> {
  const top = (await readdir(root)).filter((name) => name.endsWith(".md"));
  const docs = await readdir(join(root, "docs"), { recursive: true });
  return [...top, ...docs.filter((name) => name.endsWith(".md")).map((name) => join("docs", name))];
}

/** Targets of links outside of code. */
function links(markdown: string): string[] {
  const prose = markdown.replace(/^```[\s\S]*?^```/gm, "");
  return [...prose.matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? "");
}

/** The anchors GitHub makes of headings. */
function anchors(markdown: string): Set<string> {
  const headings = markdown.replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ +(.+)$/gm);
  return new Set(
    [...headings].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

describe("the pages", async () => {
  for (const page of await pages()) {
    it(`${page} links to things that exist`, async () => {
      const text = await readFile(join(root, page), "utf8");
      const broken: string[] = [];
      for (const link of links(text)) {
        if (/^(https?|mailto):/.test(link)) continue;
        const [path = "", anchor] = link.split("#");
        const target = path === "" ? join(root, page) : resolve(root, dirname(page), path);
        const inside = !relative(root, target).startsWith("..");
        if (!inside || !existsSync(target)) broken.push(link);
        else if (anchor !== undefined && !anchors(await readFile(target, "utf8")).has(anchor)) {
          broken.push(link);
        }
      }
      expect(broken).toEqual([]);
    });
  }
});
