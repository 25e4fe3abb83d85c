/**
 * An id is unique over two collections, and no index is. New jobs that do not wait among the fresh ones
 * put their ids there all the same, for as long as they are being inserted: so of two that insert the
 * same id at once, one fresh and one not, one is refused there. Whoever comes before is found there, and
 * whoever comes afterwards finds the job among the others.
 *
 * Two that are both not fresh are kept apart by the index of the jobs. They share a guard: the repeat of
 * an insert must not wait until the guard of its first try, which was cut short, has had its time.
 */
import { randomUUID } from "node:crypto";
import { LIGHTLY, type Database } from "./database.ts";
import type { JobDocument } from "./schema.ts";

const NAME = "guard ";
/** All of them, by the index. */
const GUARDS = { $gte: NAME, $lt: "guard!" };
/** Whoever guards ids is done at once; after so long somebody else takes the guard away. */
const UNDONE_AFTER_MS = 5_000;
const MOST_ROUNDS = 5;

/** Answers those whose ids are taken: `insert` says so of the ones that it gets. */
export async function guarded(
  db: Database,
  jobs: readonly JobDocument[],
  insert: (free: readonly JobDocument[]) => Promise<Set<JobDocument>>,
): Promise<Set<JobDocument>> {
  const guards = new Guards(db);
  const refused = new Set<JobDocument>();
  try {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      // A refusal would end a caller's transaction: there one looks first.
      const found = round > 0 || db.isInTransaction ? await guards.lookFor(jobs) : null;
      for (const job of jobs) if (found?.waiting.has(job._id)) refused.add(job);
      const free = jobs.filter((job) => !refused.has(job));
      const bare = free.filter(({ _id }) => found?.joined.has(_id) !== true);
      if (bare.length > 0 && !(await guards.putUp(bare))) continue;
      return new Set([...refused, ...(free.length === 0 ? [] : await insert(free))]);
    }
    return new Set(jobs);
  } finally {
    await guards.takeDown();
  }
}

interface Stored {
  readonly _id: string;
  readonly ids: readonly string[];
  readonly until?: number;
}

/** Those of one call. */
class Guards {
  readonly #db: Database;
  readonly #holder = randomUUID();
  readonly #held = new Set<string>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** False: some of the ids are there already. */
  async putUp(jobs: readonly JobDocument[]): Promise<boolean> {
    const db = this.#db;
    const _id = NAME + randomUUID();
    const ids = jobs.map((job) => job._id);
    const until = (await db.now()) + UNDONE_AFTER_MS;
    const guard = { _id, ids, until, holders: [this.#holder] };
    const refused = await db.insert("fresh", [guard], db.isInTransaction ? {} : LIGHTLY);
    if (refused.size > 0) return false;
    this.#held.add(_id);
    return true;
  }

  /** Which of these ids wait there, and which are guarded by others, whose guards are ours now as well. */
  async lookFor(
    jobs: readonly JobDocument[],
  ): Promise<{ readonly waiting: ReadonlySet<string>; readonly joined: ReadonlySet<string> }> {
    const db = this.#db;
    const named = { ids: { $in: jobs.map(({ _id }) => _id) } };
    const projection = { ids: 1, until: 1 };
    const found = await db.find<Stored>("fresh", named, { projection });
    const waiting = found.filter(({ until }) => until === undefined).flatMap(({ ids }) => ids);
    const joined: string[] = [];
    for (const { _id, ids, until } of found) {
      if (until !== undefined && (await this.#join(_id))) joined.push(...ids);
    }
    return { waiting: new Set(waiting), joined: new Set(joined) };
  }

  async #join(_id: string): Promise<boolean> {
    if (this.#held.has(_id)) return true;
    const until = (await this.#db.now()) + UNDONE_AFTER_MS;
    const update = { $addToSet: { holders: this.#holder }, $max: { until } };
    const isThere = (await this.#db.updateMany("fresh", { _id }, update)) === 1;
    if (isThere) this.#held.add(_id);
    return isThere;
  }

  /** If that fails, their time will come. */
  async takeDown(): Promise<void> {
    if (this.#held.size === 0) return;
    const db = this.#db;
    const held = { _id: { $in: [...this.#held] } };
    const operations = [
      { updateMany: { filter: held, update: { $pull: { holders: this.#holder } } } },
      { deleteMany: { filter: { ...held, holders: { $size: 0 } } } },
    ];
    const done = db.bulk("fresh", operations, {
      ...(db.isInTransaction ? {} : LIGHTLY),
      ordered: true,
    });
    // In a caller's transaction they would stay.
    await (db.isInTransaction ? done : done.catch(() => {}));
  }
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
