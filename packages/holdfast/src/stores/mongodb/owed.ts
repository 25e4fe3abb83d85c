/**
 * What follows from a settle. It was written into the job with the outcome; here it is done, and then
 * cleared. Whoever finds it undone (the process that wrote it may be dead) does it again: all ids are
 * fixed, so what was done already is a duplicate.
 */
import { present, type Database } from "./database.ts";
import { edit } from "./edit.ts";
import { addDocuments } from "./insert.ts";
import { withLogs } from "./updates.ts";
import { isTombstone, type AnyJob, type JobDocument, type Owed } from "./schema.ts";
import { isSoon } from "./standing.ts";
import type { Told } from "./told.ts";

/** Whoever settles does what it owes at once; after so long somebody else does. */
const UNDONE_AFTER_MS = 5_000;
const UNDONE_AT_ONCE = 20;

export interface Debt {
  readonly jobId: string;
  readonly owed: Owed;
  /** Somebody may have done a part of it. */
  readonly isAgain: boolean;
}

/** All of them together, in their order; one that is named twice is paid once. */
export async function pay(db: Database, named: readonly Debt[], told: Told): Promise<void> {
  const ids = named.map(({ owed }) => owed.id);
  const debts = named.filter(({ owed }, index) => ids.indexOf(owed.id) === index);
  if (debts.length === 0) return;
  const { notes, unpaid } = await addSpawned(db, debts, told);
  const entries = debts.flatMap(({ owed }) => owed.entries);
  const outbox = debts.flatMap(({ owed }) => owed.outbox ?? []);
  await addMissing(db, "ledger", entries);
  await addMissing(db, "outbox", outbox);
  const edits = debts.map(({ jobId, owed }) => ({
    id: jobId,
    think(job: AnyJob | null, now: number) {
      const all = job?.owed ?? [];
      // A child whose key somebody's open transaction is taking stays owed until that has ended.
      if (unpaid.has(owed.id)) return { answer: null };
      if (job === null || !all.some(({ id }) => id === owed.id)) return { answer: null };
      const left = all.filter(({ id }) => id !== owed.id);
      const own = notes.get(owed.id) ?? [];
      const logs = isTombstone(job) || own.length === 0 ? {} : withLogs(job, own, now);
      return { answer: null, changes: { ...logs, owed: left.length === 0 ? null : left } };
    },
  }));
  await edit(db, edits, { logs: 1, owed: 1, v: 1, gone: 1 });
}

/**
 * Answers what is to be noted in the logs of the parents, by what they owed: a duplicate or a conflict
 * is dropped. One that is there because somebody has paid a part before is none.
 */
async function addSpawned(db: Database, debts: readonly Debt[], told: Told): Promise<Spawned> {
  const notes = new Map<string, string[]>();
  const unpaid = new Set<string>();
  const spawned = debts.flatMap(({ owed, isAgain }) =>
    owed.jobs.map((job) => ({ job, owed, isAgain })),
  );
  const [first] = debts;
  if (spawned.length === 0 || first === undefined) return { notes, unpaid };
  const jobs = spawned.map(({ job }) => job);
  const results = await addDocuments(db, jobs, { now: first.owed.at });
  const again = spawned.filter(({ isAgain }) => isAgain).map(({ job }) => job);
  const paidBefore = await paidAmong(db, again);
  for (const [index, { job, owed }] of spawned.entries()) {
    const result = results[index];
    if (result?.outcome === "added" && isSoon({ runAt: job.runAt, now: owed.at })) {
      told.queues.add(job.queue);
    }
    if (result?.outcome === "busy") unpaid.add(owed.id);
    if (result?.outcome !== "duplicate" && result?.outcome !== "conflict") continue;
    if (paidBefore.has(job._id)) continue;
    const why = result.outcome === "duplicate" ? "duplicate of" : "conflict with";
    const note = `spawned job ${job._id} dropped: ${why} ${result.id}`;
    notes.set(owed.id, [...(notes.get(owed.id) ?? []), note]);
  }
  return { notes, unpaid };
}

interface Spawned {
  readonly notes: ReadonlyMap<string, readonly string[]>;
  /** What could not be done whole. */
  readonly unpaid: ReadonlySet<string>;
}

/** Those that are there, and came from the very settle that owes them. */
async function paidAmong(db: Database, jobs: readonly JobDocument[]): Promise<Set<string>> {
  if (jobs.length === 0) return new Set();
  const filter = { $or: jobs.map(({ _id, from }) => ({ _id, from })) };
  const found = await db.find<{ _id: string }>("jobs", filter, { projection: { _id: 1 } });
  return new Set(found.map(({ _id }) => _id));
}

/** Looks first inside a transaction, which a taken id would end. */
async function addMissing(
  db: Database,
  name: "ledger" | "outbox",
  documents: readonly { readonly _id: string }[],
): Promise<void> {
  if (documents.length === 0) return;
  const ids = documents.map(({ _id }) => _id);
  const found = db.isInTransaction
    ? await db.find<{ _id: string }>(name, { _id: { $in: ids } }, { projection: { _id: 1 } })
    : [];
  const there = new Set(found.map(({ _id }) => _id));
  const missing = documents.filter(({ _id }, index) => {
    return !there.has(_id) && ids.indexOf(_id) === index;
  });
  if (missing.length > 0) await db.insert(name, missing.map(present));
}

/** A chore: does what others have left undone. */
export async function payUndone(db: Database, now: number, told: Told): Promise<void> {
  const filter = { "owed.at": { $lte: now - UNDONE_AFTER_MS } };
  const jobs = await db.find<AnyJob>("jobs", filter, {
    limit: UNDONE_AT_ONCE,
    projection: { owed: 1 },
  });
  const debts = jobs.flatMap(({ _id: jobId, owed }) =>
    (owed ?? []).map((one): Debt => ({ jobId, owed: one, isAgain: true })),
  );
  await pay(db, debts, told);
}
