/** `npm run sim`: the deterministic simulator, on the stores that need no server. */
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStore } from "../packages/holdfast/src/stores/sqlite/index.ts";
import { connectionsBacking, memoryBacking } from "../test/simulator/backing.ts";
import { simulatorCli } from "../test/simulator/cli.ts";

function sqliteBacking() {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-sim-"));
  const file = join(folder, "jobs.db");
  return connectionsBacking({
    name: "sqlite",
    // What survives power loss is not simulated; waiting for the disk would only cost time.
    connect: (options) => sqliteStore({ ...options, file, synchronous: "normal" }),
    cleanUp: () => rm(folder, { recursive: true, force: true }),
  });
}

try {
  process.exitCode = await simulatorCli(process.argv.slice(2), {
    stores: { memory: () => memoryBacking(), sqlite: sqliteBacking },
    say: console.log,
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
