/**
 * An id is unique over two collections, and no index is. New jobs that do not wait among the fresh ones
 * put their ids there all the same, for as long as they are being inserted: so of two that insert the
 * same id at once, one is refused there. Whoever comes before is found there, and whoever comes
 * afterwards finds the job among the others.
 */
import { randomUUID } from "node:crypto";
import { LIGHTLY, type Database } from "./database.ts";
import type { JobDocument } from "./schema.ts";

const NAME = "guard ";
/** All of them, by the index. */
const GUARDS = { $gte: NAME, $lt: "guard!" };
/** Whoever guards ids is done at once; after so long somebody else takes the guard away. */
const UNDONE_AFTER_MS = 5_000;
const MOST_ROUNDS = 3;

/** Answers those whose ids are taken: `insert` says so of the ones that it gets. */
export async function guarded(
  db: Database,
  jobs: readonly JobDocument[],
  insert: (free: readonly JobDocument[]) => Promise<Set<JobDocument>>,
): Promise<Set<JobDocument>> {
  const refused = new Set<JobDocument>();
  for (let round = 0; round < MOST_ROUNDS; round++) {
    // A refusal would end a caller's transaction: there one looks first.
    if (round > 0 || db.isInTransaction) {
      for (const job of await takenAmong(db, jobs)) refused.add(job);
    }
    const free = jobs.filter((job) => !refused.has(job));
    const guard = free.length === 0 ? null : await putUp(db, free);
    if (guard === null) continue;
    try {
      return new Set([...refused, ...(await insert(free))]);
    } finally {
      await takeDown(db, guard);
    }
  }
  return new Set(jobs);
}

async function putUp(db: Database, jobs: readonly JobDocument[]): Promise<string | null> {
  const _id = NAME + randomUUID();
  const ids = jobs.map((job) => job._id);
  const until = (await db.now()) + UNDONE_AFTER_MS;
  const limits = db.isInTransaction ? {} : LIGHTLY;
  const refused = await db.insert("fresh", [{ _id, ids, until }], limits);
  return refused.size === 0 ? _id : null;
}

/** If that fails, its time will come. */
async function takeDown(db: Database, _id: string): Promise<void> {
  const gone = db.deleteOne("fresh", { _id }, LIGHTLY);
  // In a caller's transaction it would stay.
  await (db.isInTransaction ? gone : gone.catch(() => {}));
}

/** Those of new jobs whose ids are there, because they wait, or are being inserted. */
async function takenAmong(db: Database, jobs: readonly JobDocument[]): Promise<Set<JobDocument>> {
  const named = { ids: { $in: jobs.map(({ _id }) => _id) } };
  const found = await db.find<{ readonly ids: readonly string[] }>("fresh", named, {
    projection: { ids: 1 },
  });
  const ids = new Set(found.flatMap((one) => one.ids));
  return new Set(jobs.filter(({ _id }) => ids.has(_id)));
}

/** Takes away what dead processes have left up, of these ids or of all. */
export async function takeDownGuards(
  db: Database,
  now: number,
  ids?: readonly string[],
): Promise<void> {
  const which = ids === undefined ? {} : { ids: { $in: ids } };
  await db.deleteMany("fresh", { _id: GUARDS, ...which, until: { $lte: now } });
}
