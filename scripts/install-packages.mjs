/**
 * Installs the packages of a folder that has a lock file of its own, and only when they are not there yet:
 * other job systems to compare with, what the programs of the pages import. They are no dependencies of ours.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Answers whether they are all there. */
export function installPackages(folder, why = `Installing the packages of ${folder}.`) {
  if (hasPackages(folder)) return true;
  console.error(why);
  const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: "inherit",
    shell: process.platform === "win32", // npm is a .cmd file there
  });
  return npm.status === 0;
}

/** Are all of them installed, in the versions of the lock file? */
export function hasPackages(folder) {
  const installed = packagesOf(join(folder, "node_modules/.package-lock.json"));
  return Object.entries(packagesOf(join(folder, "package-lock.json"))).every(
    ([path, { version, optional }]) =>
      path === "" || optional === true || installed[path]?.version === version,
  );
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages ?? {};
  } catch {
    return {};
  }
}
