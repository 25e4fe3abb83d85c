/**
 * Around `npm pack` and `npm publish` in a package: builds, and lays out what a tarball has. With
 * `--undo` everything is as it was. The manifest waits in `.cache` meanwhile.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SHARED_FILES, writePackageFiles } from "./package-files.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = process.cwd();
const kept = join(root, ".cache", `${basename(folder)}.package.json`);

if (process.argv.includes("--undo")) {
  if (existsSync(kept)) renameSync(kept, join(folder, "package.json"));
  for (const file of SHARED_FILES) rmSync(join(folder, file), { force: true, recursive: true });
} else {
  const build = join(root, "scripts/build.mjs");
  const { status } = spawnSync(process.execPath, [build], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
  mkdirSync(join(root, ".cache"), { recursive: true });
  // One that is kept already is of a run that was stopped in the middle: that is the real one.
  if (!existsSync(kept)) copyFileSync(join(folder, "package.json"), kept);
  writePackageFiles(kept, folder);
}
