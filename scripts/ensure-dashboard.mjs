/** Builds the dashboard if its sources are here and newer than what was built. Without it everything else works. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = new URL("../packages/dashboard/", import.meta.url);
const page = new URL("../packages/server/dist/dashboard/index.html", import.meta.url);
const vite = new URL("../node_modules/vite/bin/vite.js", import.meta.url);

function newest(place) {
  return Math.max(
    0,
    ...readdirSync(place, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes("node_modules"))
      .map((entry) => statSync(`${entry.parentPath}/${entry.name}`).mtimeMs),
  );
}

const isThere = existsSync(new URL("vite.config.ts", folder)) && existsSync(vite);
const isBuilt =
  existsSync(page) && isThere && statSync(page).mtimeMs >= newest(fileURLToPath(folder));
if (isThere && !isBuilt) {
  console.log("Building the dashboard, once.");
  const { status } = spawnSync(
    process.execPath,
    [fileURLToPath(vite), "build", "--logLevel", "error"],
    { cwd: fileURLToPath(folder), stdio: "inherit" },
  );
  if (status !== 0) console.error("The dashboard could not be built; everything else is there.");
}
