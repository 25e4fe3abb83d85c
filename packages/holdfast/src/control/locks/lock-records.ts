/** Where execution locks are kept, and for how long. */
import type { LockHolder, LockRecord } from "../../core/lock.ts";
import type { Records, StoredRecord } from "../../core/records.ts";
import { derivedUuid, type ExtensionHost } from "../../engine/extension.ts";
import { lookAtJobs } from "../jobs/look-at-jobs.ts";

export const LOCKS = "holdfast/locks/";
/** After the last word of it. Longer than any job runs: "running" must not be forgotten. */
const KEPT_MS = 90 * 86_400_000;
/** Of a UUID: what all locks of one key begin with, so that they stand together. */
const KEY_CHARS = 8;

export interface VersionedLock {
  readonly lock: LockRecord;
  readonly version: number;
}

export function lockId(owner: string, key: string, scope: string): string {
  return keyPart(key) + derivedUuid("lock", owner, key, scope).slice(KEY_CHARS);
}

/** The prefix of all locks, or of those of one key (and of a few others). */
export function lockPrefix(key?: string): string {
  return key === undefined ? LOCKS : LOCKS + keyPart(key);
}

export async function readLock(records: Records, id: string): Promise<VersionedLock | null> {
  const [found] = await records.read([LOCKS + id]);
  return lockOf(found ?? null);
}

/** Answers what is there now if it was not written. Null deletes. */
export async function writeLock(
  records: Records,
  id: string,
  { lock, expect }: { readonly lock: LockRecord | null; readonly expect: number | null },
): Promise<
  | { readonly written: true; readonly version: number | null }
  | { readonly written: false; readonly current: VersionedLock | null }
> {
  const value = lock === null ? null : JSON.stringify(lock);
  const [result] = await records.swap([{ key: LOCKS + id, expect, value, ttlMs: KEPT_MS }]);
  if (result?.swapped) return { written: true, version: result.version };
  return { written: false, current: lockOf(result?.current ?? null) };
}

export function lockOf(record: StoredRecord | null): VersionedLock | null {
  if (record === null) return null;
  return { lock: JSON.parse(record.value) as LockRecord, version: record.version };
}

/** The jobs that hold these locks, in their order. Null: gone. */
export async function holdersOf(
  host: Pick<ExtensionHost, "jobs">,
  locks: readonly LockRecord[],
): Promise<(LockHolder | null)[]> {
  const refs = locks.map(({ jobId: id, queue }) => ({ id, queue }));
  return lookAtJobs(host, refs, (job) => {
    if (typeof job !== "object" || job === null) return null;
    const { status, fence, finishedAt } = job;
    return { status, fence, finishedAt };
  });
}

function keyPart(key: string): string {
  return derivedUuid("lock key", key).slice(0, KEY_CHARS);
}
