/**
 * `npm start`: the back office on SQLite with sample data and live work. `-- --tour` runs the tour of the library
 * instead, `-- --live` the smallest server and worker; what follows goes to them.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const [first, ...rest] = process.argv.slice(2);
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

function prepare(name, ...words) {
  const { status } = spawnSync(process.execPath, [here(name), ...words], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

if (first === "--tour") {
  await import("../examples/tour/main.ts");
} else if (first === "--live") {
  process.argv.splice(2, process.argv.length, ...rest);
  prepare("ensure-dashboard.mjs");
  await import("../examples/live/main.ts");
} else {
  prepare("ensure-dashboard.mjs");
  prepare("build-apps.mjs", "--if-newer");
  const { run } = await import("../apps/backoffice/dist/run.js");
  process.exitCode = await run(["--sample", ...process.argv.slice(2)], process.env);
}
