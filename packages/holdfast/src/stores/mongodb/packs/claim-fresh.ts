/**
 * Taking fresh jobs: they are inserted among the jobs, in packs that are leased already. The index of ids
 * lets each of them be inserted once. Then they are to be cleared from where they waited.
 */
import type { Database } from "../database.ts";
import type { Document } from "../driver-like.ts";
import { lookUpJobs } from "../look-up.ts";
import { isRemembered } from "../moves.ts";
import { parcelsOf } from "./packs.ts";
import { isTombstone, type JobDocument } from "../schema.ts";

/** How often those that shared a pack with somebody else's job are tried again without it. */
const MOST_ROUNDS = 3;
const MOST_REMEMBERED = 1_000;

/**
 * Packs that could not be inserted: where processes compete, whoever was quicker has all of their jobs and is
 * clearing them away, nearly always. To look at each of them costs more than all else of a lease, so one among
 * others looks only at those that are refused for the same job again. The rest of the pack need not wait for that:
 * the server names the least id that is taken, so what is before it is free, and what is behind it may be.
 */
export class Refused {
  /** The jobs that they were refused for. */
  readonly #ids = new Set<string>();

  isAgain(id: string): boolean {
    if (this.#ids.delete(id)) return true;
    if (this.#ids.size >= MOST_REMEMBERED) this.#ids.clear();
    this.#ids.add(id);
    return false;
  }
}

export interface FreshClaim {
  /** What each of them gets. */
  readonly lease: Document;
  readonly now: number;
  /** By earlier claims of this process. */
  readonly refused: Refused;
  /** Nobody seems to compete: then what is refused was left over by somebody who died, and is looked at at once. */
  readonly isAlone: boolean;
  /** Hears of those that are to be cleared. */
  readonly onTaken: (jobs: readonly JobDocument[]) => void;
  /** Gets those that are ours, as soon as that is known: a later step may fail. */
  readonly own: JobDocument[];
}

export async function claimFresh(
  db: Database,
  jobs: readonly JobDocument[],
  claim: FreshClaim,
): Promise<void> {
  const past = new Set<string>();
  try {
    await insertPacks(db, jobs, { ...claim, past });
  } finally {
    for (const { _id } of claim.own) past.add(_id);
    claim.onTaken(jobs.filter(({ _id }) => past.has(_id)));
  }
}

/** `past` gets those that are somebody's already. */
async function insertPacks(
  db: Database,
  jobs: readonly JobDocument[],
  claim: FreshClaim & { readonly past: Set<string> },
): Promise<void> {
  const { lease, now, own, past, refused: before, isAlone } = claim;
  // Of one line the next jobs are read meanwhile, and parts were no faster.
  const areOfSeveralLines = jobs[0]?.group !== jobs.at(-1)?.group;
  let left = [jobs];
  for (let round = 0; left.length > 0 && round < MOST_ROUNDS; round++) {
    const parcels = left.flatMap((some) => parcelsOf(some, lease));
    const documents = parcels.map(({ document }) => document);
    const refused = await (areOfSeveralLines
      ? db.insertInParts("jobs", documents)
      : db.insertRepeatable("jobs", documents));
    const doubtful: JobDocument[] = [];
    left = [];
    for (const [index, { document, jobs: some }] of parcels.entries()) {
      const taken = refused.get(index);
      if (taken === undefined) own.push(...packedAs(document, some, lease));
      else if (isAlone || before.isAgain(taken ?? some[0]?._id ?? "")) doubtful.push(...some);
      else if (taken !== null) left.push(...besides(some, taken));
    }
    if (doubtful.length === 0) continue;
    const found = await takenAmong(db, doubtful, now);
    for (const id of found) past.add(id);
    // Nothing is in the way of these but an id that is being forgotten: its time will come.
    if (found.size > 0) left.push(doubtful.filter(({ _id }) => !found.has(_id)));
  }
}

/** None, if the first of them is taken: whoever has that has all of them, nearly always. */
function besides(jobs: readonly JobDocument[], taken: string): (readonly JobDocument[])[] {
  const before = jobs.filter(({ _id }) => _id < taken);
  return before.length === 0 ? [] : [before, jobs.filter(({ _id }) => _id > taken)];
}

/** As they are now that they are in this pack. */
function packedAs({ _id }: Document, jobs: readonly JobDocument[], lease: Document): JobDocument[] {
  const pack = String(_id);
  const n = jobs.length;
  return jobs.map((job, index) => ({ ...job, ...lease, packed: { pack, index, n } }));
}

/** Those that are among the jobs already: whoever took them has not cleared them yet, or never will. */
async function takenAmong(
  db: Database,
  jobs: readonly JobDocument[],
  now: number,
): Promise<Set<string>> {
  const ids = jobs.map(({ _id }) => _id);
  const { jobs: found } = await lookUpJobs(db, ids, { payload: 0, result: 0 });
  const isTaken = ({ _id, createdAt }: JobDocument): boolean => {
    const job = found.get(_id);
    if (job === undefined) return false;
    // One that is past its memory is only in the way of a job that came after that.
    return !isTombstone(job) || isRemembered(job, now) || createdAt < job.gone;
  };
  return new Set(jobs.filter(isTaken).map(({ _id }) => _id));
}
