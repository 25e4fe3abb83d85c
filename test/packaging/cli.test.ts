/** The command line as it is published: built, well formed, and the same `holdfast` for both. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { expect, it } from "vitest";
import { writePackageFiles } from "../../scripts/package-files.ts";

const packages = fileURLToPath(new URL("../../packages", import.meta.url));
const isBuilt = existsSync(join(packages, "cli/dist/bin.js"));

it("the built bins run without the sources", (context) => {
  context.skip(!isBuilt, "npm run build was not run");
  const env = { ...process.env, NODE_OPTIONS: "" };
  for (const bin of ["cli/dist/bin.js", "holdfast/dist/bin.js"]) {
    const ran = spawnSync(process.execPath, [join(packages, bin), "version"], {
      ...{ env, encoding: "utf8", cwd: packages },
    });
    expect(ran, ran.stderr).toMatchObject({ status: 0 });
    expect(ran.stdout).toContain("holdfast  0.1.0");
  }
});

it("the package of the command line satisfies publint", async (context) => {
  context.skip(!isBuilt, "npm run build was not run");
  const staged = mkdtempSync(join(tmpdir(), "holdfast-cli-package-"));
  cpSync(join(packages, "cli/dist"), join(staged, "dist"), { recursive: true });
  writePackageFiles(join(packages, "cli/package.json"), staged);
  const { messages, pkg } = await publint({ pkgDir: staged, strict: true });
  rmSync(staged, { recursive: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});
