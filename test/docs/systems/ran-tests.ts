/** What ran, file by file, for `scripts/check-systems.ts`: each run of tests writes down the files it had. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Tier } from "../../runner/tier.ts";

export interface RanFile {
  readonly passed: readonly string[];
  readonly skipped: readonly string[];
  readonly tier: Tier;
  readonly at: string;
}

/** In `node_modules`, since it is of this machine and of no commit. */
function recordOf(root: string): string {
  return join(root, "node_modules/.cache/holdfast/ran-tests.json");
}

export async function readRan(root: string): Promise<Map<string, RanFile>> {
  try {
    const text = await readFile(recordOf(root), "utf8");
    return new Map(Object.entries(JSON.parse(text) as Record<string, RanFile>));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return new Map();
    throw error;
  }
}

export async function addRan(root: string, ran: ReadonlyMap<string, RanFile>): Promise<void> {
  const all = new Map([...(await readRan(root)), ...ran]);
  const record = recordOf(root);
  await mkdir(dirname(record), { recursive: true });
  // Whoever reads it meanwhile has the old one or the new one, and never half of it.
  const half = `${record}.${process.pid}`;
  await writeFile(half, JSON.stringify(Object.fromEntries(all)));
  await rename(half, record);
}
