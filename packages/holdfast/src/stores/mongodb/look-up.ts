/** Jobs by their ids: as documents of their own, out of their packs, or as they wait. Reads only. */
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { freshJobs, packsWith } from "./packs/fresh.ts";
import { saidBy } from "./packs/packs.ts";
import type { AnyJob, AnyPack } from "./schema.ts";
import { wholeJob } from "./whole-job.ts";

/** What was read of the packs in which some of them are. */
export interface Found {
  readonly jobs: Map<string, AnyJob>;
  readonly packs: readonly AnyPack[];
}

/** `projection` says what need not be read of their documents, and `ofPacks` what of their packs. */
export async function lookUp(
  db: Database,
  ids: readonly string[],
  projection: Document = {},
  ofPacks: Document = {},
): Promise<Found> {
  // First: a job leaves the fresh ones when it is among the jobs, and never comes back.
  const fresh = await packsWith(db, ids, ofPacks);
  const found = await lookUpJobs(db, ids, projection, ofPacks);
  const wanted = new Set(ids);
  for (const job of fresh.flatMap(freshJobs)) {
    if (wanted.has(job._id) && !found.jobs.has(job._id)) found.jobs.set(job._id, job);
  }
  return found;
}

/** Those that are not fresh. */
export async function lookUpJobs(
  db: Database,
  ids: readonly string[],
  projection: Document = {},
  ofPacks: Document = {},
): Promise<Found> {
  const jobs = new Map<string, AnyJob>();
  const read = async (some: readonly string[]): Promise<string[]> => {
    for (const job of await db.find<AnyJob>("jobs", { _id: { $in: some } }, { projection })) {
      jobs.set(job._id, wholeJob(job));
    }
    return some.filter((id) => !jobs.has(id));
  };
  const missing = await read(ids);
  if (missing.length === 0) return { jobs, packs: [] };
  const found = await db.find<AnyPack>("jobs", { ids: { $in: missing } }, { projection: ofPacks });
  const packs = found.filter(({ ids: several }) => Array.isArray(several));
  const isBroken = packs.length < found.length || packs.some((pack) => "out" in pack);
  // Taken apart, or come, perhaps since we looked for the documents: those count.
  const unread = new Set(isBroken ? await read(missing) : missing);
  for (const job of packs.flatMap(saidBy)) if (unread.has(job._id)) jobs.set(job._id, job);
  return { jobs, packs };
}
