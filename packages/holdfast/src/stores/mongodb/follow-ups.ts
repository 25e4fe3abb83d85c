/**
 * What follows from a settle. It was written into the job with the outcome; here it is done, and then
 * cleared. Whoever finds it undone (the process that wrote it may be dead) does it again: all ids are
 * fixed, so what was done already is a duplicate.
 */
import { present, type Database } from "./database.ts";
import { edit } from "./edit.ts";
import { addDocuments } from "./insert.ts";
import { withLogs } from "./updates.ts";
import { isTombstone, type AnyJob, type JobDocument, type FollowUp } from "./schema.ts";
import { isSoon } from "./placement.ts";
import { knowQueues } from "./queue-book.ts";
import type { Told } from "./told.ts";

/** Whoever settles does what follows at once; after so long somebody else does. */
const UNDONE_AFTER_MS = 5_000;
const UNDONE_AT_ONCE = 20;

export interface Pending {
  readonly jobId: string;
  readonly followUp: FollowUp;
  /** Somebody may have done a part of it. */
  readonly isAgain: boolean;
}

/** All of them together, in their order; one that is named twice is done once. */
export async function carryOut(db: Database, named: readonly Pending[], told: Told): Promise<void> {
  const ids = named.map(({ followUp }) => followUp.id);
  const pending = named.filter(({ followUp }, index) => ids.indexOf(followUp.id) === index);
  if (pending.length === 0) return;
  const { notes, undone } = await addSpawned(db, pending, told);
  const entries = pending.flatMap(({ followUp }) => followUp.entries);
  const outbox = pending.flatMap(({ followUp }) => followUp.outbox ?? []);
  await addMissing(db, "ledger", entries);
  await addMissing(db, "outbox", outbox);
  const edits = pending.map(({ jobId, followUp }) => ({
    id: jobId,
    think(job: AnyJob | null, now: number) {
      const all = job?.followUps ?? [];
      // A child whose key somebody's open transaction is taking stays a follow-up until that has ended.
      if (undone.has(followUp.id)) return { answer: null };
      if (job === null || !all.some(({ id }) => id === followUp.id)) return { answer: null };
      const left = all.filter(({ id }) => id !== followUp.id);
      const own = notes.get(followUp.id) ?? [];
      const logs = isTombstone(job) || own.length === 0 ? {} : withLogs(job, own, now);
      return { answer: null, changes: { ...logs, followUps: left.length === 0 ? null : left } };
    },
  }));
  await edit(db, edits, { logs: 1, followUps: 1, v: 1, gone: 1 });
}

/**
 * Answers what is to be noted in the logs of the parents, by their follow-ups: a duplicate or a conflict
 * is dropped. One that is there because somebody has done a part before is none.
 */
async function addSpawned(db: Database, pending: readonly Pending[], told: Told): Promise<Spawned> {
  const notes = new Map<string, string[]>();
  const undone = new Set<string>();
  const spawned = pending.flatMap(({ followUp, isAgain }) =>
    followUp.jobs.map((job) => ({ job, followUp, isAgain })),
  );
  const [first] = pending;
  if (spawned.length === 0 || first === undefined) return { notes, undone };
  const jobs = spawned.map(({ job }) => job);
  const again = spawned.filter(({ isAgain }) => isAgain).map(({ job }) => job);
  // Long after the settle their queues may be forgotten, and nobody leases from a queue that is not known.
  await knowQueues(
    db,
    again.map(({ queue }) => queue),
  );
  const results = await addDocuments(db, jobs, { now: first.followUp.at });
  const doneBefore = await doneAmong(db, again);
  for (const [index, { job, followUp }] of spawned.entries()) {
    const result = results[index];
    if (result?.outcome === "added" && isSoon({ runAt: job.runAt, now: followUp.at })) {
      told.queues.add(job.queue);
    }
    if (result?.outcome === "busy") undone.add(followUp.id);
    if (result?.outcome !== "duplicate" && result?.outcome !== "conflict") continue;
    if (doneBefore.has(job._id)) continue;
    const why = result.outcome === "duplicate" ? "duplicate of" : "conflict with";
    const note = `spawned job ${job._id} dropped: ${why} ${result.id}`;
    notes.set(followUp.id, [...(notes.get(followUp.id) ?? []), note]);
  }
  return { notes, undone };
}

interface Spawned {
  readonly notes: ReadonlyMap<string, readonly string[]>;
  /** What could not be done whole. */
  readonly undone: ReadonlySet<string>;
}

/** Those that are there, and came from the very settle that they follow from. */
async function doneAmong(db: Database, jobs: readonly JobDocument[]): Promise<Set<string>> {
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
export async function carryOutUndone(db: Database, now: number, told: Told): Promise<void> {
  const filter = { "followUps.at": { $lte: now - UNDONE_AFTER_MS } };
  const jobs = await db.find<AnyJob>("jobs", filter, {
    limit: UNDONE_AT_ONCE,
    projection: { followUps: 1 },
  });
  const pending = jobs.flatMap(({ _id: jobId, followUps }) =>
    (followUps ?? []).map((followUp): Pending => ({ jobId, followUp, isAgain: true })),
  );
  await carryOut(db, pending, told);
}
