import { LOG_LENGTH } from "../../core/job.ts";
import type { LeaseRef, Renewal, RenewResult, Updates } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import type { MemoryJob, MemoryState } from "./state.ts";

/** A lease that ran out but was not reaped is still its holder's: the fence decides, not the time. */
export function renew(
  state: MemoryState,
  renewals: readonly Renewal[],
  leaseMs: number,
): RenewResult[] {
  const now = state.clock.now();
  return renewals.map((renewal) => {
    const job = jobHeldBy(state, renewal);
    if (job === null) return "lost";
    job.leaseUntil = instantAfter(now, leaseMs);
    job.updatedAt = now;
    state.leased.moved(job);
    if (renewal.starts === true) job.isUnstarted = false;
    if (isNews(job, renewal)) takeAlong(job, { updates: renewal.updates ?? {}, now });
    return job.cancelWhy === null ? "kept" : "cancel";
  });
}

/** Not a repeat, and not overtaken by a later renewal of the same attempt. */
function isNews(job: MemoryJob, { order, updates }: Renewal): boolean {
  if (order === undefined || updates === undefined) return true;
  if (order <= job.updatesOrder) return false;
  job.updatesOrder = order;
  return true;
}

/** The job if this is its current holder, else null. Every write of a worker begins here. */
export function jobHeldBy(state: MemoryState, ref: LeaseRef): MemoryJob | null {
  const job = state.jobs.get(ref.id);
  return job?.status === "processing" && job.fence === ref.fence ? job : null;
}

/** Writes what rides along with a renew or a settle. */
export function takeAlong(
  job: MemoryJob,
  { updates, now }: { readonly updates: Updates; readonly now: number },
): void {
  if (updates.progress !== undefined) job.progress = { ...updates.progress };
  if (updates.logs !== undefined) addLogs(job, updates.logs, now);
  if (updates.checkpoint !== undefined) job.checkpoint = updates.checkpoint;
  for (const { name, value } of updates.steps ?? []) {
    // A finished step is never computed again, so its first value is the only one.
    if (!job.steps.some((step) => step.name === name)) job.steps = [...job.steps, { name, value }];
  }
}

export function addLogs(job: MemoryJob, texts: readonly string[], now: number): void {
  const lines = texts.map((text) => ({ at: now, text }));
  job.logs = [...job.logs, ...lines].slice(-LOG_LENGTH);
}
