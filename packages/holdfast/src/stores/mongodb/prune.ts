/**
 * Retention. Only the index of finished jobs is looked at, so work that has not run cannot be touched.
 * Of all jobs that are past a policy, the one that finished first goes first: with a limit, a busy
 * queue cannot keep the others from being pruned.
 */
import { randomUUID } from "node:crypto";
import { FINISHED_STATUSES, type FinishedStatus } from "../../core/job.ts";
import type { Retention } from "../../core/store.ts";
import { endedInPacks } from "./count.ts";
import { present, type Database } from "./database.ts";
import { forgetDisowned } from "./disown.ts";
import type { Document } from "./driver-like.ts";
import { edit, writtenAs, type Edit } from "./edit.ts";
import { forget } from "./packs/fresh.ts";
import { bury } from "./moves.ts";
import { endOf, seqAt, SEQS } from "./packs/packs.ts";
import { ENDED, isPack, isTombstone, type JobDocument, type Pack } from "./schema.ts";
import { tidyPacks } from "./packs/unpack.ts";

/** What has expired is cleared in steps of so many, or more if more is pruned. */
const SWEEP_AT_LEAST = 1_000;

/** One queue and status, with the policies that are for it. */
interface Shelf {
  readonly queue: string;
  readonly status: FinishedStatus;
  readonly policies: readonly Retention[];
}

interface Past {
  readonly id: string;
  readonly finishedAt: number;
  readonly seq: number;
  /** If it is in one whose jobs have all finished. */
  readonly pack: Pack | null;
}

export async function prune(
  db: Database,
  policies: readonly Retention[],
  limit: number,
): Promise<number> {
  const [queues, now] = await Promise.all([
    db.find<{ _id: string }>("queues", {}, { projection: { _id: 1 } }),
    db.now(),
  ]);
  const shelves = queues.flatMap(({ _id }) => shelvesOf(_id, policies));
  let pruned = 0;
  for (let round = 0; pruned < limit && round < MOST_ROUNDS; round++) {
    const oldest = await oldestPast(db, shelves, { limit: limit - pruned, now });
    if (oldest.length === 0) break;
    const packs = wholePacks(oldest);
    const edits = oldest
      .filter(({ pack }) => pack === null || !packs.includes(pack))
      .map((one) => buryOne(one, db.remembersMs));
    const alone = (await edit(db, edits, KEPT)).filter((isBuried) => isBuried).length;
    const buried = alone + (await buryPacks(db, packs, now));
    pruned += buried;
    // Somebody else has buried or revived some of them: there may be others.
    if (buried === oldest.length) break;
  }
  await sweep(db, now, Math.max(SWEEP_AT_LEAST, limit));
  return pruned;
}

const MOST_ROUNDS = 3;

/** Of all shelves, the one that finished first goes first. */
async function oldestPast(
  db: Database,
  shelves: readonly Shelf[],
  look: { readonly limit: number; readonly now: number },
): Promise<Past[]> {
  const past: Past[] = [];
  for (const shelf of shelves) past.push(...(await pastOn(db, shelf, look)));
  return past.sort(byEnd).slice(0, look.limit);
}

const KEPT = {
  ...{
    v: 1,
    status: 1,
    finishedAt: 1,
    settledFence: 1,
    k: 1,
    kx: 1,
    dedupe: 1,
    followUps: 1,
    from: 1,
  },
  ...{ gone: 1, ids: 1 },
};

/** Those packs all of whose jobs are past. */
function wholePacks(past: readonly Past[]): Pack[] {
  const byPack = Map.groupBy(past, ({ pack }) => pack);
  return [...byPack].flatMap(([pack, jobs]) => (pack?.n === jobs.length ? [pack] : []));
}

/** Answers how many jobs were in them. */
async function buryPacks(db: Database, packs: readonly Pack[], now: number): Promise<number> {
  if (packs.length === 0) return 0;
  const v = randomUUID();
  const gone = now + db.remembersMs;
  const operations = packs.map(({ _id, v: read, ids, settledFence }) => ({
    replaceOne: {
      filter: { _id, v: read },
      replacement: present({ _id, v, ids, gone, settledFence }),
    },
  }));
  await db.bulk("jobs", operations);
  const names = packs.map(({ _id }) => _id);
  const done = await writtenAs(db, names, v);
  return packs.reduce((sum, { _id, n }) => sum + (done.has(_id) ? n : 0), 0);
}

function buryOne({ id, finishedAt }: Past, remembersMs: number): Edit<boolean> {
  return {
    id,
    ifLocked: () => false,
    think(job, now) {
      // Revived, or buried by somebody else.
      if (job === null || isTombstone(job) || job.finishedAt !== finishedAt) {
        return { answer: false };
      }
      return { answer: true, tombstone: bury(job, { now, remembersMs }) };
    },
  };
}

function shelvesOf(queue: string, policies: readonly Retention[]): Shelf[] {
  return FINISHED_STATUSES.flatMap((status) => {
    const ofStatus = policies.filter((policy) => policy.status === status);
    const own = ofStatus.filter((policy) => policy.queue === queue);
    const general = ofStatus.filter((policy) => policy.queue === null);
    const inForce = own.length > 0 ? own : general;
    return inForce.length > 0 ? [{ queue, status, policies: inForce }] : [];
  });
}

/** Those that are too old, or too many, come first in the order of their end. */
async function pastOn(
  db: Database,
  { queue, status, policies }: Shelf,
  { limit, now }: { readonly limit: number; readonly now: number },
): Promise<Past[]> {
  const ages = policies.flatMap(({ olderThanMs }) => olderThanMs ?? []);
  const keeps = policies.flatMap(({ keep }) => keep ?? []);
  const total = keeps.length === 0 ? 0 : await onShelf(db, { queue, status });
  const tooMany = keeps.length === 0 ? 0 : Math.max(0, total - Math.min(...keeps));
  const latest = ages.length === 0 ? -Infinity : now - Math.min(...ages);
  if (tooMany === 0 && latest === -Infinity) return [];
  // Of a pack whose jobs ended one after the other, `finishedAt` is the first end: so the jobs that
  // ended first are in the documents that come first.
  const statuses = status === "succeeded" ? [status, "processing"] : [status];
  const found = statuses.flatMap((one) =>
    // Of each kind as many as may go, in their order. A pack has no number of its own.
    [{ $gt: 0 }, null].map((seq) =>
      db.find<JobDocument | Pack>(
        "jobs",
        { queue, status: one, finishedAt: ENDED, seq },
        { sort: { finishedAt: 1, seq: 1, first: 1 }, limit, projection: ENDS },
      ),
    ),
  );
  const oldest = (await Promise.all(found)).flat().flatMap(pastIn).sort(byEnd).slice(0, limit);
  return oldest.filter(({ finishedAt }, index) => finishedAt <= latest || index < tooMany);
}

const ENDS = {
  ...{ finishedAt: 1, seq: 1, n: 1, ids: 1, ends: 1, status: 1, v: 1, settledFence: 1, out: 1 },
  ...SEQS,
};

async function onShelf(
  db: Database,
  { queue, status }: Pick<Shelf, "queue" | "status">,
): Promise<number> {
  const total = await db.sum("jobs", { queue, status, finishedAt: ENDED }, { field: "n" });
  return status === "succeeded" ? total + (await endedInPacks(db, queue)) : total;
}

/** The jobs of a document that have finished. */
function pastIn(document: JobDocument | Pack): Past[] {
  if (!isPack(document)) {
    const { _id: id, finishedAt, seq } = document;
    return [{ id, finishedAt: finishedAt ?? 0, seq, pack: null }];
  }
  const pack = document.status === "succeeded" && document.out === undefined ? document : null;
  return document.ids.flatMap((id, index) => {
    const end = endOf(document, index);
    return end === null ? [] : [{ id, finishedAt: end, seq: seqAt(document, index), pack }];
  });
}

function byEnd(a: Past, b: Past): number {
  return a.finishedAt !== b.finishedAt ? a.finishedAt - b.finishedAt : a.seq - b.seq;
}

/** In bounded steps; a record that was written again meanwhile does not fit any more, and stays. */
async function deleteRecords(db: Database, filter: Document, limit: number): Promise<void> {
  const look = { limit, projection: { _id: 1 } };
  const found = await db.find<{ _id: string }>("records", filter, look);
  if (found.length === 0) return;
  await db.deleteMany("records", { ...filter, _id: { $in: found.map(({ _id }) => _id) } });
}

/** Clears what has expired. Nobody saw it any more: every reader checks the time itself. */
async function sweep(db: Database, now: number, atMost: number): Promise<void> {
  const absent = { $exists: false };
  // First: a pack that is not yet taken apart must not bring back a job that is forgotten.
  await tidyPacks(db, now, atMost);
  await forget(db, { gone: { $lte: now }, followUps: absent }, atMost);
  await deleteRecords(db, { expiresAt: { $lte: now } }, atMost);
  await forgetDisowned(db, now);
  const isIdle = { maxActive: absent, weight: absent };
  const held = { $elemMatch: { $or: [{ until: null }, { until: { $gt: now } }] } };
  await db.deleteMany("lines", { ...isIdle, holds: { $not: held } });
}
