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
 * Packs that could not be inserted: whoever was quicker is clearing their jobs away, nearly always. To look
 * at each of them costs more than all else of a lease, so only those are looked at that are refused again.
 */
export class Refused {
  /** The first job of each. */
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
  { lease, now, own, past, refused: before }: FreshClaim & { readonly past: Set<string> },
): Promise<void> {
  // Of one line the next jobs are read meanwhile, and parts were no faster.
  const areOfSeveralLines = jobs[0]?.group !== jobs.at(-1)?.group;
  let left = jobs;
  for (let round = 0; left.length > 0 && round < MOST_ROUNDS; round++) {
    const parcels = parcelsOf(left, lease);
    const documents = parcels.map(({ document }) => document);
    const refused = await (areOfSeveralLines
      ? db.insertInParts("jobs", documents)
      : db.insertRepeatable("jobs", documents));
    for (const [index, { document, jobs: some }] of parcels.entries()) {
      if (!refused.has(index)) own.push(...packedAs(document, some, lease));
    }
    if (refused.size === 0) break;
    const others = parcels
      .filter(({ jobs: some }, index) => refused.has(index) && before.isAgain(some[0]?._id ?? ""))
      .flatMap(({ jobs: some }) => some);
    if (others.length === 0) break;
    const taken = await takenAmong(db, others, now);
    for (const id of taken) past.add(id);
    // Nothing is in the way of these but an id that is being forgotten: its time will come.
    if (taken.size === 0) break;
    left = others.filter(({ _id }) => !taken.has(_id));
  }
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
  const found = await lookUpJobs(db, ids, { payload: 0, result: 0 });
  const isTaken = (id: string): boolean => {
    const job = found.jobs.get(id);
    return job !== undefined && !(isTombstone(job) && !isRemembered(job, now));
  };
  return new Set(ids.filter(isTaken));
}
