/**
 * Installs the peers into this folder, and only when they are not there yet. Without a network the
 * benchmark still runs: a peer that is missing is left out, and the report says so.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(new URL(file, import.meta.url), "utf8")).packages ?? {};
  } catch {
    return {};
  }
}

const installed = packagesOf("node_modules/.package-lock.json");
const missing = Object.entries(packagesOf("package-lock.json")).filter(
  ([path, { version, optional }]) =>
    path !== "" && optional !== true && installed[path]?.version !== version,
);
if (missing.length > 0) {
  console.error("Installing the peers to measure against, in bench/ only.");
  const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: here,
    stdio: "inherit",
    shell: process.platform === "win32", // npm is a .cmd file there
  });
  if (npm.status !== 0) {
    console.error(
      "The peers could not be installed; npm's own message is above. Going on without.",
    );
  }
}
