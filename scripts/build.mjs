/** Compiles `src` of each package into its `dist`: what is published, and nothing else. */
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
const tsc = fileURLToPath(new URL("node_modules/typescript/bin/tsc", root));

// The others use the library's types, so it is the first.
const names = readdirSync(new URL("packages", root)).sort(
  (a, b) => Number(b === "holdfast") - Number(a === "holdfast"),
);
for (const name of names) {
  const folder = new URL(`packages/${name}/`, root);
  // A file that was renamed or removed in src must not live on in the package.
  rmSync(new URL("dist", folder), { recursive: true, force: true });
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
    cwd: fileURLToPath(folder),
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}
