/**
 * What a new job has anyway is not written into its document: most jobs are inserted, run once and
 * never looked at, and every field that is not there makes each of these steps cheaper.
 */
import { present } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { isTombstone, type AnyJob, type JobDocument } from "./schema.ts";

const DEFAULTS: Document = { attempts: 0, crashes: 0, deferrals: 0, fence: 0 };

/** As it is kept. */
export function slimJob(job: JobDocument): Document {
  if (job.fresh !== true) return present(job);
  const { createdAt } = job;
  const usual: Document = { ...DEFAULTS, runAt: createdAt, updatedAt: createdAt };
  const kept: Document = {};
  for (const [name, value] of Object.entries(job)) {
    if (value !== null && value !== undefined && value !== usual[name]) kept[name] = value;
  }
  return kept;
}

/** As it is, from how it is kept. The first lease is noted by its own time. */
export function wholeJob<J extends AnyJob>(kept: J): J {
  if (isTombstone(kept)) return kept;
  const { createdAt, startedAt } = kept;
  return { ...DEFAULTS, runAt: createdAt, updatedAt: startedAt ?? createdAt, ...kept };
}
