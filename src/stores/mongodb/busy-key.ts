/**
 * A key that somebody's open transaction is taking. Nobody can say whose it will be, and the server
 * would keep us waiting until that transaction ends. So jobs with keys get a short time together; if
 * that was not enough, each gets a short time of its own, and one whose key is still undecided is
 * `busy`. Its neighbours in the call must not wait for it.
 */
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { isTooLate } from "./mongodb-error.ts";
import type { JobDocument } from "./schema.ts";
import { slimJob } from "./whole-job.ts";

const TOGETHER_MS = 1_000;
const ALONE_MS = 500;
const AT_ONCE = 20;

export interface Added {
  /** Their id or key is taken. */
  readonly refused: ReadonlySet<JobDocument>;
  readonly busy: ReadonlySet<JobDocument>;
}

export async function addFree(db: Database, jobs: readonly JobDocument[]): Promise<Added> {
  const busy = new Set<JobDocument>();
  if (jobs.length === 0) return { refused: new Set(), busy };
  const isQuick = db.isInTransaction || jobs.every(({ k }) => k == null);
  try {
    const limits = isQuick ? {} : { maxTimeMS: TOGETHER_MS };
    const refused = await insertJobs(db, jobs, limits);
    return { refused: new Set(jobs.filter((_, index) => refused.has(index))), busy };
  } catch (error) {
    if (isQuick || !isTooLate(error)) throw error;
    return addAlone(db, jobs);
  }
}

/** Those that got in before are refused now, and then found to be these very jobs. */
async function addAlone(db: Database, jobs: readonly JobDocument[]): Promise<Added> {
  const refused = new Set<JobDocument>();
  const busy = new Set<JobDocument>();
  const plain = jobs.filter(({ k }) => k == null);
  if (plain.length > 0) {
    const taken = await insertJobs(db, plain);
    for (const [index, job] of plain.entries()) if (taken.has(index)) refused.add(job);
  }
  const keyed = jobs.filter(({ k }) => k != null);
  for (let start = 0; start < keyed.length; start += AT_ONCE) {
    const some = keyed.slice(start, start + AT_ONCE).map(async (job) => {
      try {
        const taken = await insertJobs(db, [job], { maxTimeMS: ALONE_MS });
        if (taken.size > 0) refused.add(job);
      } catch (error) {
        if (!isTooLate(error)) throw error;
        busy.add(job);
      }
    });
    await Promise.all(some);
  }
  return { refused, busy };
}

/** One that is sent again is refused, and then found to be this very job. */
function insertJobs(
  db: Database,
  jobs: readonly JobDocument[],
  limits: Document = {},
): Promise<Set<number>> {
  const documents = jobs.map(slimJob);
  return db.isInTransaction
    ? db.insert("jobs", documents, limits)
    : db.insertRepeatable("jobs", documents, limits);
}
