/** What the settings make of a Holdfast: where its jobs are, what is kept, how much runs at once. */
import type { HoldfastModuleOptions } from "@holdfast/nestjs";
import { hubspotViews } from "@holdfast/crm";
import type { Settings } from "../config/settings.ts";

const KEPT = { maxCount: 1_000 };
const GRACE_MS = 5_000;

export function holdfastOptions(settings: Settings): HoldfastModuleOptions {
  const { jobsUrl, ledgerUrl, queue, concurrency, options } = settings;
  const { retention, work: { shards: _, ...work } = {}, ...rest } = options;
  return {
    ...rest,
    url: withViews(jobsUrl),
    // System 4's table, to read with SQL.
    views: hubspotViews(),
    ...(ledgerUrl !== undefined && { ledgerUrl: withViews(ledgerUrl) }),
    // Shards are of simulations, which know them as `workShards`: no queue here has others.
    work: { graceMs: GRACE_MS, ...work, concurrency },
    retention: {
      ...retention,
      // System 1: removeOnComplete and removeOnFail.
      queues: { [queue]: { succeeded: KEPT, dead: { ...retention?.dead, ...KEPT } } },
    },
    // Deaths of the CRM's jobs are told to staff.
    alerts: { ...options.alerts, dead: true },
    jobLogs: false,
  };
}

/** System 1's tables where its users look for them: job_failures and job_idempotency_locks in `public`. */
function withViews(url: string): string {
  if (!/^postgres(ql)?:/.test(url)) return url;
  const parsed = new URL(url);
  if (!parsed.searchParams.has("viewsIn")) parsed.searchParams.set("viewsIn", "public");
  return parsed.href;
}
