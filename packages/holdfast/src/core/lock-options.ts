/** What a contract says of its execution lock, and how it is checked. */
import { checkName } from "./names.ts";
import { checkFunction, checkOptions, checkWhole, MAX_DURATION_MS } from "./option-checks.ts";

/** The job whose scope is asked for. Nothing of it changes between its attempts but `attempt`. */
export interface LockedJob {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  /** Null for a job without a group. */
  readonly group: string | null;
  readonly attempt: number;
  readonly tags: readonly string[];
  readonly createdAt: Date;
}

/** Work of one owner, key and scope runs once at a time, and not again once it is done. */
export interface LockOptions<Payload = unknown> {
  /** What kind of work it is: `"monthly_snapshot"`. */
  readonly key: string;
  /** Which piece of it: 1 to 512 characters. `payload` is what the handler gets. */
  scope(payload: Payload, job: LockedJob): string;
  /** Whose it is. Default: `payload.companyId` if that is a text, else the group, else no owner. */
  owner?(payload: Payload, job: LockedJob): string;
  /**
   * A lock that says "running" is taken over after so long. It counts only where no store can tell whether its
   * holder runs. Default 30 minutes.
   */
  readonly staleMs?: number | undefined;
}

/** Checked, with every default filled in. */
export interface ResolvedLock {
  readonly key: string;
  readonly scope: (payload: unknown, job: LockedJob) => unknown;
  readonly owner: ((payload: unknown, job: LockedJob) => unknown) | null;
  readonly staleMs: number;
}

export const DEFAULT_STALE_MS = 30 * 60_000;

export function checkLock(lock: LockOptions<never> | undefined): ResolvedLock | null {
  if (lock === undefined) return null;
  checkOptions("lock", lock, ["key", "scope", "owner", "staleMs"]);
  const { key, scope, owner, staleMs = DEFAULT_STALE_MS } = lock as LockOptions;
  checkFunction("lock.scope", scope);
  if (owner !== undefined) checkFunction("lock.owner", owner);
  return Object.freeze({
    key: checkName("lock", key),
    scope,
    owner: owner ?? null,
    staleMs: checkWhole("lock.staleMs", staleMs, { min: 1, max: MAX_DURATION_MS }),
  });
}
