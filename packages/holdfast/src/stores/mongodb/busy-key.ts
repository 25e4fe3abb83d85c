/**
 * A key that somebody's open transaction is taking. Nobody can say whose it will be, and the server
 * would keep us waiting until that transaction ends. Such a job is `busy`, and its neighbours in the call
 * must not wait for it.
 */
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { packsWith } from "./packs/fresh.ts";
import { writeFree } from "./locks.ts";
import type { JobDocument } from "./schema.ts";
import { slimJob } from "./whole-job.ts";

export interface Added {
  /** Their id or key is taken. */
  readonly refused: ReadonlySet<JobDocument>;
  readonly busy: ReadonlySet<JobDocument>;
}

export async function addFree(
  db: Database,
  jobs: readonly JobDocument[],
  /** Nobody else knows their ids. */
  { areNew }: { readonly areNew: boolean },
): Promise<Added> {
  if (jobs.length === 0) return { refused: new Set(), busy: new Set() };
  if (db.isInTransaction || jobs.every(({ k }) => k == null)) {
    return { refused: await insertJobs(db, jobs, { areNew }), busy: new Set() };
  }
  const refused = new Set<JobDocument>();
  const busy = await writeFree(db, jobs, {
    nameOf: ({ _id, k }) => (k == null ? _id : `key ${k}`),
    async write(to, some, limits) {
      // Those that a late write has stored are refused by the next, and then found to be these very jobs.
      for (const job of await insertJobs(to, some, { limits, areNew })) refused.add(job);
    },
  });
  return { refused, busy };
}

/** Answers those that were refused. One that is sent again is refused, and then found to be this very job. */
async function insertJobs(
  db: Database,
  jobs: readonly JobDocument[],
  { limits = {}, areNew = false }: { readonly limits?: Document; readonly areNew?: boolean } = {},
): Promise<Set<JobDocument>> {
  // First: one that is fresh leaves for the jobs, where its id is refused.
  const waiting = areNew ? new Set<string>() : await idsWaiting(db, jobs);
  // They were only read: what no majority has is undone by a failover, and found missing by the look that follows.
  if (waiting.size > 0 && !db.isInTransaction) await db.confirm();
  const free = jobs.filter(({ _id }) => !waiting.has(_id));
  const documents = free.map(slimJob);
  const taken = await db.add("jobs", documents, limits);
  const refused = new Set(jobs.filter(({ _id }) => waiting.has(_id)));
  for (const index of taken) refused.add(free[index] as JobDocument);
  return refused;
}

/** Those of them that are among the fresh ones, as a first try may be whose reply got lost. */
async function idsWaiting(db: Database, jobs: readonly JobDocument[]): Promise<Set<string>> {
  const packs = await packsWith(
    db,
    jobs.map(({ _id }) => _id),
  );
  return new Set(packs.flatMap(({ ids }) => ids));
}
