/** The programs a reader meets run as they are printed, against the packed package. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPackage, type InstalledPackage } from "../packaging/install-package.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Blocks that bring their own imports of the package are whole programs; the others are excerpts. */
async function programsOf(page: string): Promise<string[]> {
  const text = await readFile(join(root, page), "utf8");
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? "");
  return blocks.filter((block) => /^import .+ from "holdfast/m.test(block));
}

describe("the programs in our pages", () => {
  let installed: InstalledPackage;
  let program: string;

  beforeAll(async () => {
    installed = await installPackage();
    const guides = (await readdir(join(root, "docs/guides"))).map((name) => `docs/guides/${name}`);
    await mkdir(join(installed.folder, "pages"));
    for (const page of ["README.md", ...guides]) {
      for (const [at, block] of (await programsOf(page)).entries()) {
        const name = `${page.replaceAll(/[/.]/g, "-")}-${at}.ts`;
        await writeFile(join(installed.folder, "pages", name), block);
      }
    }
    program = (await programsOf("README.md"))[0] ?? "";
  });
  afterAll(() => installed?.remove());

  it("the README opens with one of about twenty lines", () => {
    const lines = program.split("\n").filter((line) => line.trim() !== "");
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.length).toBeLessThanOrEqual(22);
  });

  it("the README's prints what the page says, the first time and again", async () => {
    const cwd = join(installed.folder, "readme");
    await mkdir(cwd);
    await writeFile(join(cwd, "program.ts"), program);
    const printed = { code: 0, stdout: "hello, Ada, on attempt 2\n", stderr: "" };
    expect(await installed.node(["program.ts"], { cwd })).toEqual(printed);
    expect(await installed.node(["program.ts"], { cwd })).toEqual(printed);
  });

  it("all of them type-check", async () => {
    const names = await readdir(join(installed.folder, "pages"));
    const strict = ["--strict", "--noEmit", "--target", "es2024", "--module", "nodenext"];
    const files = names.map((name) => join("pages", name));
    const ran = await installed.tsc([...strict, "--types", "node", ...files]);
    expect(names.length).toBeGreaterThan(1);
    expect(ran).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});
