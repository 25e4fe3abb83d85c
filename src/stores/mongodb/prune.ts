/**
 * Retention. Only the index of finished jobs is looked at, so work that has not run cannot be touched.
 * Of all jobs that are past a policy, the one that finished first goes first: with a limit, a busy
 * queue cannot keep the others from being pruned.
 */
import { FINISHED_STATUSES, type FinishedStatus } from "../../core/job.ts";
import type { Retention } from "../../core/store.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { edit, type Edit } from "./edit.ts";
import { bury } from "./moves.ts";
import { ENDED, isTombstone } from "./schema.ts";

/** What has expired is cleared in steps of so many, or more if more is pruned. */
const SWEEP_AT_LEAST = 1_000;

/** One queue and status, with the policies that are for it. */
interface Shelf {
  readonly queue: string;
  readonly status: FinishedStatus;
  readonly policies: readonly Retention[];
}

interface Past {
  readonly _id: string;
  readonly finishedAt: number;
  readonly seq: number;
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
    const edits = oldest.map((one) => buryOne(one, db.remembersMs));
    const buried = (await edit(db, edits, KEPT)).filter((isBuried) => isBuried).length;
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
  past.sort((a, b) =>
    a.finishedAt !== b.finishedAt ? a.finishedAt - b.finishedAt : a.seq - b.seq,
  );
  return past.slice(0, look.limit);
}

const KEPT = {
  ...{ v: 1, status: 1, finishedAt: 1, settledFence: 1, k: 1, kx: 1, dedupe: 1, owed: 1, from: 1 },
  gone: 1,
};

function buryOne({ _id: id, finishedAt }: Past, remembersMs: number): Edit<boolean> {
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
  const shelf = { queue, status, finishedAt: ENDED };
  const total = keeps.length === 0 ? 0 : await db.count("jobs", shelf);
  const tooMany = keeps.length === 0 ? 0 : Math.max(0, total - Math.min(...keeps));
  const latest = ages.length === 0 ? -Infinity : now - Math.min(...ages);
  if (tooMany === 0 && latest === -Infinity) return [];
  const oldest = await db.find<Past>("jobs", shelf, {
    sort: { finishedAt: 1, seq: 1 },
    limit,
    projection: { finishedAt: 1, seq: 1 },
  });
  return oldest.filter(({ finishedAt }, index) => finishedAt <= latest || index < tooMany);
}

/** In bounded steps; a record that was written again meanwhile does not fit any more, and stays. */
async function deleteSome(
  db: Database,
  name: "jobs" | "records",
  filter: Document,
  limit: number,
): Promise<void> {
  const found = await db.find<{ _id: string }>(name, filter, { limit, projection: { _id: 1 } });
  if (found.length === 0) return;
  await db.deleteMany(name, { ...filter, _id: { $in: found.map(({ _id }) => _id) } });
}

/** Clears what has expired. Nobody saw it any more: every reader checks the time itself. */
async function sweep(db: Database, now: number, atMost: number): Promise<void> {
  const absent = { $exists: false };
  await deleteSome(db, "jobs", { gone: { $lte: now }, owed: absent }, atMost);
  await deleteSome(db, "records", { expiresAt: { $lte: now } }, atMost);
  const isIdle = { maxActive: absent, weight: absent };
  const held = { $elemMatch: { $or: [{ until: null }, { until: { $gt: now } }] } };
  await db.deleteMany("lines", { ...isIdle, holds: { $not: held } });
}
