/** Compiles `src` into `dist`: what is published, and nothing else. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));

// A file that was renamed or removed in src must not live on in the package.
rmSync(new URL("../dist", import.meta.url), { recursive: true, force: true });

const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
  cwd: root,
  stdio: "inherit",
});
process.exit(status ?? 1);
