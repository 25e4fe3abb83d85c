/**
 * Taking packs apart, in three steps:
 *
 *  1. The pack is marked (`out`). From here on it is what it is: no claim, settle or renewal fits it.
 *  2. The documents of its jobs are inserted, as the pack says they are.
 *  3. What is left of the pack is a stub that keeps its ids from being taken.
 *
 * Every prefix is harmless. A marked pack is still leased, so whoever reaps or changes one of its jobs meets it and goes on with step 2, and so does a chore; those documents that are there
 * already count, whatever has become of them meanwhile.
 */
import { randomUUID } from "node:crypto";
import { present, type Database } from "../database.ts";
import type { Document } from "../driver-like.ts";
import { writeFree } from "../locks.ts";
import { jobsOf } from "./packs.ts";
import { isPack, isStub, type JobDocument, type Pack, type Stub } from "../schema.ts";
import { whileOpen } from "../stretches.ts";

/** Whoever has marked a pack takes it apart at once; after so long somebody else does. */
const UNDONE_AFTER_MS = 5_000;

/** Packs: their documents must be inserted in a short time. */
const AT_ONCE = 16;

const ABSENT = { $exists: false };

/** What must be so of a pack that is changed as one. */
export const UNMARKED = { out: ABSENT };

export interface UnpackOptions {
  /** Many of their jobs may be locked. */
  readonly asksFirst?: boolean;
}

/** Answers the ids of those jobs that somebody's open transaction keeps from us. */
export async function unpack(
  db: Database,
  packs: Iterable<string>,
  how: UnpackOptions = {},
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(packs)];
  const locked = new Set<string>();
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const some = await unpackSome(db, ids.slice(start, start + AT_ONCE), how);
    // Nobody needs to wait for that but who counts. A chore does it if this fails.
    db.options.clearing.begin(some.reducing);
    for (const id of some.locked) locked.add(id);
  }
  return locked;
}

/** Resolves when nothing is left of them but their stubs. */
export async function unpackWholly(db: Database, packs: Iterable<string>): Promise<void> {
  const ids = [...new Set(packs)];
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    await (
      await unpackSome(db, ids.slice(start, start + AT_ONCE), {})
    ).reducing;
  }
}

async function unpackSome(
  db: Database,
  ids: readonly string[],
  { asksFirst = false }: UnpackOptions,
): Promise<{ readonly locked: ReadonlySet<string>; readonly reducing: Promise<unknown> }> {
  const since = Date.now();
  const now = await db.now();
  const named = { _id: { $in: ids }, pack: { $exists: true } };
  const marked = { $set: { out: now + UNDONE_AFTER_MS, v: randomUUID() } };
  const begun = await db.updateMany("jobs", { ...named, ...UNMARKED }, marked);
  const frozen = await db.find<Pack>("jobs", { ...named, out: { $exists: true } });
  const jobs = frozen.flatMap(jobsOf);
  const missing = begun === frozen.length ? jobs : await missingAmong(db, jobs);
  const singles = missing.map(singleOf);
  const times = frozen.flatMap(({ finishedAt, ends = {} }) => [finishedAt, ...Object.values(ends)]);
  const change = { since, times };
  const locked = await whileOpen(db, change, () => insertAll(db, singles, asksFirst));
  const operations = frozen.map((pack) => reduced(pack, { locked, now, db }));
  const reduce = () => db.bulk("jobs", operations);
  const reducing = operations.length > 0 ? whileOpen(db, change, reduce) : Promise.resolve();
  return { locked, reducing };
}

/** What came of a pack that was met before is there already, all but what was locked then. */
async function missingAmong(
  db: Database,
  jobs: readonly JobDocument[],
): Promise<readonly JobDocument[]> {
  const named = { _id: { $in: jobs.map(({ _id }) => _id) } };
  const found = await db.find<{ _id: string }>("jobs", named, { projection: { _id: 1 } });
  const there = new Set(found.map(({ _id }) => _id));
  return jobs.filter(({ _id }) => !there.has(_id));
}

/** As it is kept from now on. */
function singleOf({ packed: _packed, ...job }: JobDocument): Document & { _id: string } {
  return { ...present({ ...job, v: randomUUID() }), _id: job._id };
}

/** The document of a job may be kept from us by the transaction in which it is being settled. */
async function insertAll(
  db: Database,
  singles: readonly (Document & { readonly _id: string })[],
  asksFirst: boolean,
): Promise<Set<string>> {
  if (singles.length === 0) return new Set();
  const locked = await writeFree(db, singles, {
    nameOf: ({ _id }) => _id,
    asksFirst,
    write: (to, some, limits) => to.add("jobs", some, limits),
  });
  return new Set([...locked].map(({ _id }) => _id));
}

function reduced(
  { _id, ids }: Pack,
  {
    locked,
    now,
    db,
  }: { readonly locked: ReadonlySet<string>; readonly now: number; readonly db: Database },
): Document {
  const filter = { _id, pack: { $exists: true } };
  const stays = [...ids.keys()].filter((index) => locked.has(ids[index] as string));
  const left = stays.length;
  // It counts for those that are not there yet.
  const rest = { n: left, left, stays, out: now + UNDONE_AFTER_MS };
  if (left > 0) return { updateOne: { filter, update: { $set: rest } } };
  const stub: Stub = { _id, v: randomUUID(), ids, out: now + db.remembersMs };
  return { replaceOne: { filter, replacement: stub } };
}

/** A chore: goes on with what others have left, and clears stubs of jobs that are forgotten. */
export async function tidyPacks(db: Database, now: number, limit: number): Promise<void> {
  const filter = { out: { $lte: now } };
  const found = await db.find<Pack | Stub>("jobs", filter, { sort: { out: 1 }, limit });
  const packs = found.filter(isPack).map(({ _id }) => _id);
  await unpack(db, packs);
  if (packs.length > 0) await db.options.clearing.done();
  await shrink(db, found.filter(isStub));
}

/** A stub keeps only the ids of jobs that are there, or remembered. */
export async function shrink(db: Database, stubs: readonly Stub[]): Promise<void> {
  if (stubs.length === 0) return;
  const named = { _id: { $in: stubs.flatMap(({ ids }) => ids) } };
  const found = await db.find<{ _id: string }>("jobs", named, { projection: { _id: 1 } });
  const there = new Set(found.map(({ _id }) => _id));
  const out = (await db.now()) + db.remembersMs;
  const operations = stubs.map(({ _id, ids }) => {
    const gone = ids.filter((id) => !there.has(id));
    const filter = { _id, pack: ABSENT };
    // No list is left empty: the index would take all empty lists for the same.
    if (gone.length === ids.length) return { deleteOne: { filter } };
    return { updateOne: { filter, update: { $pullAll: { ids: gone }, $set: { out } } } };
  });
  await db.bulk("jobs", operations);
}
