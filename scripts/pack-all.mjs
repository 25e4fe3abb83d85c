/**
 * `node scripts/pack-all.mjs <folder>`: builds once, and writes a tarball of every package as it is published.
 * `npm pack` in each package would build all of them once more each time.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { writePackageFiles } from "./package-files.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error("where to? node scripts/pack-all.mjs <folder>");
  process.exit(2);
}

must(process.execPath, [join(root, "scripts/build.mjs")], root);
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(join(root, "packages"))) {
  const manifest = join(root, "packages", name, "package.json");
  if (JSON.parse(readFileSync(manifest, "utf8")).private === true) continue;
  const staged = mkdtempSync(join(tmpdir(), "holdfast-pack-"));
  cpSync(join(root, "packages", name, "dist"), join(staged, "dist"), { recursive: true });
  writePackageFiles(manifest, staged);
  const words = ["pack", "--ignore-scripts", "--silent", "--pack-destination", resolve(folder)];
  must("npm", words, staged);
  rmSync(staged, { recursive: true });
}

function must(program, words, cwd) {
  const shell = process.platform === "win32";
  const { status } = spawnSync(program, words, { cwd, shell, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
