/**
 * Runs the tests on the oldest Node that Holdfast supports: `npm run test:floor [-- vitest arguments]`.
 * That Node comes from the npm package `node` and is kept in the cache folder.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const FLOOR = "22.13.1";

const root = fileURLToPath(new URL("..", import.meta.url));
const cache = join(root, ".cache", `node-${FLOOR}`);
const node = join(cache, "node_modules", "node", "bin", "node");

if (!existsSync(node)) {
  console.error(`Fetching Node ${FLOOR} …`);
  mkdirSync(cache, { recursive: true });
  // Its install script puts the binary in place, so it must be allowed.
  const manifest = { private: true, dependencies: { node: FLOOR }, allowScripts: { node: true } };
  writeFileSync(join(cache, "package.json"), JSON.stringify(manifest));
  const args = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
  spawnSync("npm", args, { cwd: cache, stdio: "inherit" });
  if (!existsSync(node)) {
    console.error(`Node ${FLOOR} could not be fetched: is the npm registry reachable?`);
    process.exit(1);
  }
}

// Tests start TypeScript files as processes; at the floor that still needs a flag.
const flags = "--experimental-strip-types --disable-warning=ExperimentalWarning";
const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
const { status } = spawnSync(node, [vitest, "run", ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} ${flags}`.trim() },
});
process.exit(status ?? 1);
