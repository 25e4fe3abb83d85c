/**
 * Retention. Only the index of finished jobs is looked at, so work that has not run cannot be touched.
 * Of all jobs that are past a policy, the one that finished first goes first: with a limit, a busy
 * queue cannot keep the others from being pruned.
 *
 * A policy for all queues is one question about all of them, by the time at which jobs finished. Only queues
 * that have more jobs than they are to keep are asked one by one.
 */
import { randomUUID } from "node:crypto";
import { FINISHED_STATUSES, type FinishedStatus } from "../../core/job.ts";
import type { Retention } from "../../core/store.ts";
import { endedByQueue, endedIn } from "./count.ts";
import { present, type Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { edit, writtenAs, type Edit } from "./edit.ts";
import { bury } from "./moves.ts";
import { endOf, seqAt, SEQS } from "./packs/packs.ts";
import { ENDED, isPack, isTombstone, type JobDocument, type Pack } from "./schema.ts";
import { whileOpen } from "./stretches.ts";
import { sweep } from "./sweep.ts";

interface Past {
  readonly id: string;
  readonly finishedAt: number;
  readonly seq: number;
  /** If it is in one whose jobs have all finished. */
  readonly pack: Pack | null;
}

/** Which finished jobs are looked at, and which of them are past. */
interface Look {
  readonly status: FinishedStatus;
  /** Which queues. */
  readonly queue: Document | string;
  /** Those that finished by then; Infinity: the first of them, however young. */
  readonly until: number;
  readonly most: number;
}

const MOST_ROUNDS = 3;
/** Queues that have more jobs than they are to keep. */
const LOOKS_AT_ONCE = 16;

export async function prune(
  db: Database,
  policies: readonly Retention[],
  limit: number,
): Promise<number> {
  const now = await db.now();
  let pruned = 0;
  for (let round = 0; pruned < limit && round < MOST_ROUNDS; round++) {
    const oldest = await oldestPast(db, policies, { limit: limit - pruned, now });
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
  await sweep(db, now, limit);
  return pruned;
}

const KEPT = {
  ...{ v: 1, status: 1, finishedAt: 1, settledFence: 1, k: 1, kx: 1, dedupe: 1, followUps: 1 },
  ...{ from: 1, gone: 1, ids: 1 },
};

async function oldestPast(
  db: Database,
  policies: readonly Retention[],
  { limit, now }: { readonly limit: number; readonly now: number },
): Promise<Past[]> {
  const looks: Look[] = [];
  const keeps: Keep[] = [];
  for (const status of FINISHED_STATUSES) {
    const ofStatus = policies.filter((policy) => policy.status === status);
    const own = [...Map.groupBy(ofStatus, ({ queue }) => queue)];
    const named = own.flatMap(([queue]) => queue ?? []);
    for (const [name, some] of own) {
      const queue = name ?? { $nin: named };
      const ages = some.flatMap(({ olderThanMs }) => olderThanMs ?? []);
      const bounds = some.flatMap(({ keep }) => keep ?? []);
      if (ages.length > 0) {
        looks.push({ status, queue, until: now - Math.min(...ages), most: limit });
      }
      if (bounds.length === 0) continue;
      const isFor = (one: string): boolean => (name === null ? !named.includes(one) : one === name);
      keeps.push({ status, isFor, keep: Math.min(...bounds) });
    }
  }
  const found = new Map<string, Past>();
  for (const look of looks) for (const one of await pastOf(db, look)) found.set(one.id, one);
  for (const one of await tooMany(db, keeps, limit)) found.set(one.id, one);
  return [...found.values()].sort(byEnd).slice(0, limit);
}

/** How many of its finished jobs a queue is to keep. */
interface Keep {
  readonly status: FinishedStatus;
  readonly isFor: (queue: string) => boolean;
  readonly keep: number;
}

/**
 * They are counted behind the look. Another process may be pruning: it takes the same ones, those that finished
 * first, and what it took before our look is not counted either. Counted before, they would be too many.
 */
async function tooMany(db: Database, keeps: readonly Keep[], limit: number): Promise<Past[]> {
  if (keeps.length === 0) return [];
  const known = await endedByQueue(db);
  const looks = keeps.flatMap(({ status, isFor, keep }) =>
    [...(known.get(status) ?? [])].flatMap(([queue, { n }]) =>
      n > keep && isFor(queue) ? [{ status, queue, keep, most: Math.min(limit, n - keep) }] : [],
    ),
  );
  const found: Past[][] = [];
  for (let start = 0; start < looks.length; start += LOOKS_AT_ONCE) {
    const some = looks.slice(start, start + LOOKS_AT_ONCE);
    found.push(
      ...(await Promise.all(some.map((look) => pastOf(db, { ...look, until: Infinity })))),
    );
  }
  // By a pass: beside a build that knows nothing of seals, by them too many would go.
  const counts = new Map<FinishedStatus, ReadonlyMap<string, number>>();
  for (const status of new Set(looks.map((look) => look.status))) {
    const ended = await endedIn(db, status, ENDED);
    counts.set(status, new Map(ended.map(({ queue, n }) => [queue, n])));
  }
  return looks.flatMap(({ status, queue, keep }, index) => {
    const n = counts.get(status)?.get(queue) ?? 0;
    return (found[index] ?? []).slice(0, Math.max(0, n - keep));
  });
}

/** Those that are too old, or too many, come first in the order of their end. */
async function pastOf(db: Database, { status, queue, until, most }: Look): Promise<Past[]> {
  // Of a pack whose jobs ended one after the other, `finishedAt` is the first end: so the jobs that
  // ended first are in the documents that come first.
  const statuses = status === "succeeded" ? [status, "processing"] : [status];
  const found = statuses.flatMap((one) =>
    // Of each kind as many as may go, in their order. A pack has no number of its own.
    [{ $gt: 0 }, null].map((seq) =>
      db.find<JobDocument | Pack>(
        "jobs",
        { status: one, finishedAt: { $lte: Math.min(until, Number.MAX_SAFE_INTEGER) }, queue, seq },
        {
          sort: { finishedAt: 1, seq: 1, first: 1 },
          limit: most,
          projection: ENDS,
          hint: "finished",
        },
      ),
    ),
  );
  const oldest = (await Promise.all(found)).flat().flatMap(pastIn).sort(byEnd).slice(0, most);
  return oldest.filter(({ finishedAt }) => finishedAt <= until);
}

const ENDS = {
  ...{ finishedAt: 1, seq: 1, n: 1, ids: 1, ends: 1, status: 1, v: 1, settledFence: 1, out: 1 },
  ...SEQS,
};

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

/** Those packs all of whose jobs are past. */
function wholePacks(past: readonly Past[]): Pack[] {
  const byPack = Map.groupBy(past, ({ pack }) => pack);
  return [...byPack].flatMap(([pack, jobs]) => (pack?.n === jobs.length ? [pack] : []));
}

/** Answers how many jobs were in them. */
async function buryPacks(db: Database, packs: readonly Pack[], now: number): Promise<number> {
  if (packs.length === 0) return 0;
  const [v, since] = [randomUUID(), Date.now()];
  const gone = now + db.remembersMs;
  const operations = packs.map(({ _id, v: read, ids, settledFence }) => ({
    replaceOne: {
      filter: { _id, v: read },
      replacement: present({ _id, v, ids, gone, settledFence }),
    },
  }));
  const times = packs.map(({ finishedAt }) => finishedAt);
  await whileOpen(db, { since, times }, () => db.bulk("jobs", operations));
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
