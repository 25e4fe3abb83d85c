/** Compiles `src` of each package into its `dist`: what is published, and nothing else. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = new URL("../", import.meta.url);
const tsc = fileURLToPath(new URL("node_modules/typescript/bin/tsc", root));

// Each after those whose types it uses.
const FIRST = ["holdfast", "server", "crm"];
const others = readdirSync(new URL("packages", root))
  // Not a package of its own: it is built into the server's.
  .filter((name) => name !== "dashboard" && !FIRST.includes(name));
const names = [...FIRST, ...others];
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

// Applications are built by the packages that they use: so after those.
const apps = spawnSync(process.execPath, [fileURLToPath(new URL("scripts/build-apps.mjs", root))], {
  stdio: "inherit",
});
if (apps.status !== 0) process.exit(apps.status ?? 1);

// Into the server's dist: so after it.
const vite = fileURLToPath(new URL("node_modules/vite/bin/vite.js", root));
const { status } = spawnSync(process.execPath, [vite, "build", "--logLevel", "warn"], {
  cwd: fileURLToPath(new URL("packages/dashboard/", root)),
  stdio: "inherit",
});
if (status !== 0) process.exit(status ?? 1);
console.log(`dashboard: ${dashboardSize()} kB gzipped in all`);

function dashboardSize() {
  const folder = new URL("packages/server/dist/dashboard/", root);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map((file) => gzipSync(readFileSync(join(file.parentPath, file.name))).length);
  return Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / 1000);
}
