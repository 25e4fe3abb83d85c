/** Where a page leads: which of its links lead nowhere, or out of the folder that its reader has. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

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

/** The files of the repository that a page links to. */
export async function linkedPages(root: string, page: string): Promise<string[]> {
  const found = links(await readFile(join(root, page), "utf8"));
  const paths = found.filter((link) => !/^(https?|mailto):|^#/.test(link));
  return paths.map((link) => join(dirname(page), link.split("#")[0] ?? ""));
}

export async function brokenLinks(root: string, page: string): Promise<string[]> {
  const broken: string[] = [];
  for (const link of links(await readFile(join(root, page), "utf8"))) {
    if (/^(https?|mailto):/.test(link)) continue;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? join(root, page) : resolve(root, dirname(page), path);
    const inside = !relative(root, target).startsWith("..");
    if (!inside || !existsSync(target)) broken.push(link);
    else if (anchor !== undefined && !anchors(await readFile(target, "utf8")).has(anchor)) {
      broken.push(link);
    }
  }
  return broken;
}
