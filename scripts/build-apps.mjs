/**
 * Compiles the applications of `apps` into their `dist`: Nest's decorators need a compiler, which Node's own type
 * stripping is not. With `--if-newer` only what has changed since.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
const tsc = fileURLToPath(new URL("node_modules/typescript/bin/tsc", root));
const isLazy = process.argv.includes("--if-newer");

for (const name of readdirSync(new URL("apps", root))) {
  const folder = fileURLToPath(new URL(`apps/${name}/`, root));
  const mark = join(folder, "dist/.built");
  if (isLazy && existsSync(mark) && statSync(mark).mtimeMs >= newest(join(folder, "src"))) continue;
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  // Types are checked by `npm run types`, and by the build; a start does not wait for that.
  const words = ["-p", "tsconfig.build.json", ...(isLazy ? ["--noCheck"] : [])];
  const { status } = spawnSync(process.execPath, [tsc, ...words], {
    cwd: folder,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(mark, "");
}

function newest(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Math.max(
    ...entries.map(({ parentPath, name }) => statSync(join(parentPath, name)).mtimeMs),
  );
}
