/**
 * The programs that a page prints. A block that imports Holdfast begins one; the blocks behind it that do not are
 * its next lines. A block that begins with a file's name, `// worker.ts`, is that file.
 */
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";

export interface PageProgram {
  /** Of the page, without its ending. */
  readonly page: string;
  readonly file: string;
  readonly text: string;
  /** One file of several, which a test of its own puts together. */
  readonly isPart: boolean;
}

export async function programsOf(root: string, path: string): Promise<PageProgram[]> {
  const page = basename(path, ".md");
  const text = await readFile(join(root, path), "utf8");
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block);
  const programs: PageProgram[] = [];
  for (const block of blocks) {
    const name = /^\/\/ ([\w.-]+\.ts)\n/.exec(block)?.[1];
    const last = programs.at(-1);
    if (name !== undefined) {
      programs.push({ page, file: name, text: block, isPart: true });
    } else if (/^import .+ from "@?holdfast/m.test(block)) {
      const file = `program-${programs.length}.ts`;
      programs.push({ page, file, text: block, isPart: false });
    } else {
      if (last === undefined)
        throw new Error(`${path} begins with lines that belong to no program`);
      programs.splice(-1, 1, { ...last, text: importsFirst(`${last.text}\n${block}`) });
    }
  }
  return programs;
}

/** A reader puts the imports of later lines at the top. */
function importsFirst(text: string): string {
  const isImport = (line: string) => /^import .+ from "/.test(line);
  const lines = text.split("\n");
  return [...lines.filter(isImport), ...lines.filter((line) => !isImport(line))].join("\n");
}
