/**
 * Makes `npm start` and `npm test` work in a fresh clone: installs what the lockfile names, and only
 * when it is not there yet.
 *
 * Runs before anything is installed, so it uses what Node 20 has and no package at all. It compares
 * contents, not file times: a clone or a branch switch touches times without changing a thing.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The packages a lockfile names, or null if there is no such file or it is half written. */
function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), "utf8")).packages ?? null;
  } catch {
    return null;
  }
}

/** One sentence saying why an installation is needed, or null if everything is in place. */
function whatIsMissing() {
  const wanted = packagesOf("package-lock.json");
  const installed = packagesOf("node_modules/.package-lock.json");
  if (wanted === null) return "package-lock.json cannot be read";
  if (installed === null) return "nothing is installed yet";
  for (const [path, want] of Object.entries(wanted)) {
    const have = installed[path];
    // Packages for other systems are in the lockfile and rightly not on this disk.
    const mayBeAbsent = path === "" || want.optional === true;
    if (have === undefined && !mayBeAbsent) return `${path} is not installed`;
    if (have !== undefined && have.version !== want.version) {
      return `${path} is ${have.version}, the lockfile says ${want.version}`;
    }
    // A package of this repository: npm notes it as installed also where it made no link.
    if (want.link === true && !existsSync(join(root, path))) return `${path} is not linked`;
  }
  // The pinned Node is put in place by an install script. Without it `node` would silently be the
  // machine's own, which may be too old to run TypeScript.
  const pinned = ["bin/node", "bin/node.exe"].map((name) => join(root, "node_modules/node", name));
  if (!pinned.some((file) => existsSync(file))) return "the pinned Node is not in place";
  return null;
}

/**
 * npm must not run on the pinned Node: `npm ci` begins by deleting node_modules, and with it the
 * program it would be running on.
 */
function pathWithoutOurs() {
  const ours = join(root, "node_modules");
  const entries = (process.env.PATH ?? "").split(delimiter);
  return entries.filter((entry) => !resolve(entry).startsWith(ours)).join(delimiter);
}

const reason = whatIsMissing();
if (reason !== null) {
  console.error(`Installing the development tools with npm ci, because ${reason}.`);
  // NODE_ENV=production would leave the tools out, hence --include=dev. Warnings are left out: that the
  // machine's own Node is too old for some tool is why the pinned one is being installed.
  const npm = spawnSync(
    "npm",
    ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"],
    {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, PATH: pathWithoutOurs() },
      shell: process.platform === "win32", // npm is a .cmd file there
    },
  );
  const left = npm.status === 0 ? whatIsMissing() : null;
  if (npm.status !== 0 || left !== null) {
    console.error(
      [
        "",
        left === null
          ? "npm ci did not finish; its own message is above."
          : `npm ci finished, but ${left}.`,
        "Usual causes and what helps:",
        "  no network or registry   check `npm ping`, then run the command again",
        "  install scripts are off  `npm config get ignore-scripts` must say false",
        "  a damaged node_modules   delete the folder, then run the command again",
      ].join("\n"),
    );
    process.exit(npm.status || 1);
  }
}
