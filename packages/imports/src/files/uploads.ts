/**
 * Uploaded files that no job took along: those of processes that were killed, and those of jobs that ended without
 * a success, once they are old enough.
 */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Holdfast } from "holdfast";
import { PART } from "./receive-upload.ts";

/** No upload takes longer. */
const PART_MS = 3_600_000;
/** Between the file's arrival and its job. */
const FRESH_MS = 60_000;

export interface SweepOptions {
  readonly hf: Holdfast;
  readonly folder: string;
  readonly queue: string;
  readonly keepMs: number;
  readonly now: number;
}

/** By this tag a file finds its job. */
export function uploadTag(path: string): string {
  const name = path.split(/[\\/]/).at(-1) as string;
  return `upload:${name.slice(0, 100)}`;
}

/** How many were removed. */
export async function sweepUploads(options: SweepOptions): Promise<number> {
  const { folder, keepMs, now } = options;
  let removed = 0;
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (found === null || !found.isFile()) continue;
    const ageMs = now - found.mtimeMs;
    const isOver = name.endsWith(PART)
      ? ageMs > PART_MS
      : ageMs > FRESH_MS && (await isNeeded(options, name, ageMs > keepMs)) === false;
    if (!isOver) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}

/** A job that waits or runs needs its file, however old it is; a dead one may be retried until the file expires. */
async function isNeeded(
  { hf, queue }: SweepOptions,
  name: string,
  isExpired: boolean,
): Promise<boolean> {
  const { jobs, nextCursor } = await hf.jobs({ queue, tag: uploadTag(name), limit: 10 });
  const isOpen = jobs.some(({ status }) => status === "queued" || status === "processing");
  if (isOpen) return true;
  // The store has not looked everywhere: better an old file too many.
  if (jobs.length === 0 && nextCursor !== null) return true;
  if (isExpired) return false;
  return !jobs.some(({ status }) => status === "succeeded");
}
