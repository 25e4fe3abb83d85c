/**
 * Writes the Lua of the Redis store into a module, so that no bundler loses it:
 * `stores/redis/lua/*.lua` become `stores/redis/scripts.ts`. Comments and indentation stay behind: a
 * server keeps its scripts in memory. With `--check` nothing is written, and a difference
 * is an error; a test does that.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const folder = new URL("../packages/holdfast/src/stores/redis/lua/", import.meta.url);
const target = new URL("../packages/holdfast/src/stores/redis/scripts.ts", import.meta.url);

/** The lines that a server needs, and those that say what a script includes. */
function compact(source) {
  const lines = source.split("\n").map((line) => line.trim());
  const isKept = (line) =>
    line !== "" && (!line.startsWith("--") || line.startsWith("-- include:"));
  return lines.filter(isKept).join("\n");
}

function moduleText() {
  const files = readdirSync(folder).filter((name) => name.endsWith(".lua"));
  const entries = files.sort().map((file) => {
    const name = file.slice(0, -".lua".length);
    const key = /^[a-z]+$/.test(name) ? name : JSON.stringify(name);
    return `  ${key}: ${JSON.stringify(compact(readFileSync(new URL(file, folder), "utf8")))},`;
  });
  return [
    "/** Made from `lua/` by `node scripts/redis-scripts.mjs`: change it there. */",
    "// prettier-ignore",
    "export const LUA = {",
    ...entries,
    "} as const;",
    "",
  ].join("\n");
}

if (!process.argv.includes("--check")) {
  writeFileSync(target, moduleText());
} else if (readFileSync(target, "utf8") !== moduleText()) {
  console.error(
    "packages/holdfast/src/stores/redis/scripts.ts is not what its Lua is: node scripts/redis-scripts.mjs",
  );
  process.exitCode = 1;
}
