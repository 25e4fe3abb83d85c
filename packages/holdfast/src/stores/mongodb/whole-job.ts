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
  const kept: Document = {};
  // Field by field, because it is done for every job: lists of entries cost three times as much.
  for (const name in job) {
    const value = job[name as keyof JobDocument];
    if (value !== null && value !== undefined && !isUsual(job, name)) kept[name] = value;
  }
  return kept;
}

function isUsual(job: JobDocument, name: string): boolean {
  switch (name) {
    case "attempts":
    case "crashes":
    case "deferrals":
    case "fence":
      return job[name] === 0;
    case "runAt":
    case "updatedAt":
      return job[name] === job.createdAt;
    default:
      return false;
  }
}

/** As it is, from how it is kept. The first lease is noted by its own time. */
export function wholeJob<J extends AnyJob>(kept: J): J {
  if (isTombstone(kept)) return kept;
  const { createdAt, startedAt } = kept;
  return { ...DEFAULTS, runAt: createdAt, updatedAt: startedAt ?? createdAt, ...kept };
}
