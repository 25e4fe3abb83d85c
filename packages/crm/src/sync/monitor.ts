/** System 4's stats and monitor, of one queue. Counts are the store's own; times come from its statistics. */
import type { Holdfast } from "holdfast";

export interface SyncStats {
  readonly pending: number;
  readonly processing: number;
  /** Failed, and waiting for their retry. */
  readonly failed: number;
  readonly dead: number;
  /** In the last 24 hours. */
  readonly completed: number;
}

export interface SyncFailure {
  readonly id: string;
  readonly operation: string;
  readonly error: string | null;
  readonly retryCount: number;
  readonly maxRetries: number;
  readonly nextRetryAt: Date;
}

export interface SyncMonitor {
  readonly counts: Omit<SyncStats, "dead">;
  /** The 20 newest that wait for a retry. */
  readonly recentFailures: readonly SyncFailure[];
  /** Of those that completed in the last 24 hours; null: none did. */
  readonly averageProcessingMs: number | null;
  /** How long the oldest pending one has been waiting; null: none is. */
  readonly queueLagMs: number | null;
}

const DAY_MS = 86_400_000;
const RECENT = 20;

export async function readStats(hf: Holdfast, queue: string): Promise<SyncStats> {
  const { counts, finished } = await hf.stats({ queue, lastMs: DAY_MS });
  const { ready, delayed, retrying, processing, dead } = counts;
  return {
    ...{ processing, failed: retrying, dead, completed: finished.succeeded },
    pending: Math.max(0, ready + delayed - retrying),
  };
}

export async function readMonitor(
  hf: Holdfast,
  sync: { readonly queue: string; operationOf(type: string): string },
): Promise<SyncMonitor> {
  const { queue } = sync;
  const fresh = { queue, status: "queued", delayed: false, retrying: false } as const;
  const [stats, { runMs, at }, failed, oldest] = await Promise.all([
    readStats(hf, queue),
    hf.stats({ queue, lastMs: DAY_MS }),
    hf.jobs({ queue, status: "queued", retrying: true, limit: RECENT, without: "payloads" }),
    hf.jobs({ ...fresh, order: "oldest", limit: 1, without: "payloads" }),
  ]);
  const { dead: _dead, ...counts } = stats;
  const [first] = oldest.jobs;
  return {
    counts,
    recentFailures: failed.jobs.map(({ id, type, error, attempts, maxAttempts, runAt }) => ({
      ...{ id, operation: sync.operationOf(type), error: error?.message ?? null },
      ...{ retryCount: attempts, maxRetries: maxAttempts - 1, nextRetryAt: runAt },
    })),
    // What took no time is not among the times.
    averageProcessingMs: runMs.count > 0 ? runMs.avg : stats.completed > 0 ? 0 : null,
    queueLagMs: first ? Math.max(0, at.getTime() - first.createdAt.getTime()) : null,
  };
}
