/**
 * Upkeep of the stretches: what has gathered is cut into stretches, those that are settled are looked
 * through and sealed, and small neighbours are joined. One process at a time looks, and for a short time.
 *
 * A seal that is some hours old is looked through again: a build before this one, beside us in a rolling
 * deployment, changes jobs and unseals nothing. If no upkeep of this build was about for an hour, such a one
 * may have been alone: then all are unsealed, and nothing is sealed for an hour.
 */
import { randomUUID } from "node:crypto";
import { FINISHED_STATUSES } from "../../core/job.ts";
import type { Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { isTooLate } from "./mongodb-error.ts";
import { readHeads, type Head, type Heads } from "./sealed-counts.ts";
import {
  BEGINNING,
  BREAK_MS,
  LATE_MS,
  SETTLES_MS,
  unsealThese,
  type DeadRow,
  type EndedRow,
  type StretchSum,
  type WatchDocument,
} from "./stretches.ts";

/** Of all processes together. */
const LOOKS_EVERY_MS = 10_000;
/** Cutting, and sealing: a tenth of one core while there is much to do. */
const LOOKS_FOR_MS = 500;
const VERIFIED_EVERY_MS = 6 * 3_600_000;
/** Of queues, or of dead jobs that are alike: with more, a sum is hardly less than what it sums. */
const MOST_ROWS = 1_000;
/** Adopted jobs may come into a stretch by the hundred thousand: then it is cut again. */
const MOST_TIMES = 4;

export async function sealStretches(db: Database): Promise<void> {
  const { stretches } = db.options;
  const [since, now] = [Date.now(), await db.now()];
  if (now < stretches.nextLookAt) return;
  stretches.nextLookAt = now + LOOKS_EVERY_MS;
  const watch = await takeWatch(db, now);
  if (watch === null) return;
  const look: Look = { db, now, since };
  const heads = await readHeads(db);
  await cutAll(look, heads);
  if (now >= watch.since + BREAK_MS) await sealAll(look, heads);
  await joinOne(look, heads);
}

interface Look {
  readonly db: Database;
  readonly now: number;
  /** `Date.now()` when it began. */
  readonly since: number;
}

/** Null: somebody else looks. */
async function takeWatch(db: Database, now: number): Promise<WatchDocument | null> {
  const begun: WatchDocument = { _id: "watch", since: now, at: now };
  const [watch] = await db.find<WatchDocument>("stretches", { _id: begun._id });
  if (watch === undefined) {
    const taken = await db.insert("stretches", [{ ...begun }]);
    return taken.size > 0 ? null : begun;
  }
  const { _id, at } = watch;
  if (now < at + LOOKS_EVERY_MS) return null;
  const isBroken = at < now - BREAK_MS;
  if (isBroken) await unsealThese(db, { to: { $gt: BEGINNING } }, now);
  const next = isBroken ? begun : { ...watch, at: now };
  const $set = { since: next.since, at: next.at };
  return (await db.updateMany("stretches", { _id, at }, { $set })) === 1 ? next : null;
}

/** Where no stretch is, and enough has gathered. */
async function cutAll(look: Look, { heads }: Heads): Promise<void> {
  const endsAt = performance.now() + LOOKS_FOR_MS;
  let from = BEGINNING;
  for (const next of [...heads, null]) {
    const end = next?._id ?? null;
    while (end === null || from < end) {
      const to = (await endOfFirst(look.db, from, end)) ?? end;
      if (to === null || to > look.now) break;
      await add(look, { _id: from, to });
      from = to;
      if (performance.now() > endsAt) return;
    }
    from = next?.to ?? from;
  }
}

async function add({ db, now, since }: Look, place: { _id: number; to: number }): Promise<void> {
  const stretch = { ...place, rev: randomUUID(), notBefore: now + SETTLES_MS, lookedAt: 0 };
  await db.insert("stretches", [stretch]);
  // We stood still: who looked before found none, and may still be changing jobs.
  if (Date.now() - since > LATE_MS) await unsealThese(db, { _id: place._id }, await db.now());
}

/** By when so many documents of one status as make a stretch have finished; null: there are fewer. */
async function endOfFirst(db: Database, from: number, end: number | null): Promise<number | null> {
  const finishedAt = { $gte: from, ...(end !== null && { $lt: end }) };
  const ends = FINISHED_STATUSES.map((status) =>
    db.find<{ finishedAt: number }>(
      "jobs",
      { status, finishedAt },
      {
        sort: { finishedAt: 1 },
        skip: db.options.stretches.documents - 1,
        limit: 1,
        projection: { _id: 0, finishedAt: 1 },
        hint: "finished",
      },
    ),
  );
  const found = (await Promise.all(ends)).flat().map((one) => Math.floor(one.finishedAt) + 1);
  return found.length === 0 ? null : Math.min(...found);
}

/** Those that are settled, then those whose seals are old. */
async function sealAll(look: Look, { heads }: Heads): Promise<void> {
  const { db, now } = look;
  const endsAt = performance.now() + LOOKS_FOR_MS;
  const isDue = ({ sum, to, notBefore, lookedAt }: Head): boolean =>
    sum === undefined
      ? Math.max(to + SETTLES_MS, notBefore, lookedAt + LATE_MS) <= now
      : lookedAt + VERIFIED_EVERY_MS <= now;
  const due = heads.filter(isDue);
  const verified = due.filter(({ sum }) => sum !== undefined);
  for (const head of [...due.filter(({ sum }) => sum === undefined), ...verified]) {
    const { _id, lookedAt } = head;
    const isOurs = await db.updateMany("stretches", { _id, lookedAt }, { $set: { lookedAt: now } });
    if (isOurs === 1) await seal(look, head);
    if (performance.now() > endsAt) return;
  }
}

async function seal({ db, now }: Look, { _id, to, rev }: Head): Promise<void> {
  const sum = await sumOf(db, { $gte: _id, $lt: to });
  const isLarge =
    sum === "late" || (sum?.documents ?? 0) > MOST_TIMES * db.options.stretches.documents;
  const earlier = isLarge ? await endOfFirst(db, _id, to) : null;
  if (earlier !== null && earlier < to) {
    const $set = { to: earlier, rev: randomUUID(), notBefore: now + SETTLES_MS };
    await db.updateMany("stretches", { _id, rev }, { $set, $unset: { sum: "" } });
    return;
  }
  const isKept = sum !== null && sum !== "late" && mostRowsOf(sum) <= MOST_ROWS;
  const update = isKept ? { $set: { sum } } : { $unset: { sum: "" } };
  await db.updateMany("stretches", { _id, rev }, update);
}

function mostRowsOf({ ended, dead }: StretchSum): number {
  return Math.max(ended.length, dead.length);
}

/** Null: it is not settled. */
async function sumOf(db: Database, finishedAt: Document): Promise<StretchSum | "late" | null> {
  // First: a pack that ends its last job is then among the others, and its jobs are counted by its end.
  const partly = { status: "processing", finishedAt };
  const projection = { _id: 0, finishedAt: 1 };
  const [unended] = await db.find("jobs", partly, { projection, limit: 1, hint: "finished" });
  if (unended !== undefined) return null;
  try {
    const [ended, dead] = [await endedIn(db, finishedAt), await deadIn(db, finishedAt)];
    return { documents: ended.reduce((sum, row) => sum + row.documents, 0), ended, dead };
  } catch (error) {
    if (isTooLate(error)) return "late";
    throw error;
  }
}

function endedIn(db: Database, finishedAt: Document): Promise<(EndedRow & Documents)[]> {
  const counted = { n: { $sum: { $ifNull: ["$n", 1] } }, documents: { $sum: 1 } };
  const stages = [
    { $match: { status: { $in: [...FINISHED_STATUSES] }, finishedAt } },
    { $group: { _id: { status: "$status", queue: "$queue" }, ...counted } },
    {
      $replaceWith: {
        status: "$_id.status",
        queue: "$_id.queue",
        n: "$n",
        documents: "$documents",
      },
    },
  ];
  return db.aggregate("jobs", stages, "finished");
}

interface Documents {
  readonly documents: number;
}

function deadIn(db: Database, finishedAt: Document): Promise<DeadRow[]> {
  const error = { category: "$error.category", fingerprint: "$error.fingerprint" };
  const stages = [
    { $match: { halted: "dead", finishedAt } },
    {
      $group: {
        _id: { queue: "$queue", group: "$group", type: "$type", error },
        count: { $sum: 1 },
        firstAt: { $min: "$finishedAt" },
        newest: { $max: { at: "$finishedAt", seq: "$seq" } },
      },
    },
    { $limit: MOST_ROWS + 1 },
    {
      $replaceWith: {
        $mergeObjects: ["$_id", { count: "$count", firstAt: "$firstAt", newest: "$newest" }],
      },
    },
  ];
  return db.aggregate("jobs", stages, "fallen");
}

/** Of two small neighbours the first grows over the second, and is looked through anew. */
async function joinOne({ db, now, since }: Look, { heads, covered }: Heads): Promise<void> {
  // While the first is there, nobody looks at what it covers.
  for (const { _id } of covered) await db.deleteOne("stretches", { _id });
  const most = db.options.stretches.documents / 2;
  const at = heads.findIndex((head, index) => {
    const next = heads[index + 1];
    if (head.sum === undefined || next?.sum === undefined || next._id !== head.to) return false;
    return head.sum.documents + next.sum.documents <= most;
  });
  const [first, second] = heads.slice(at, at + 2);
  if (at < 0 || first === undefined || second === undefined) return;
  const { _id, rev } = first;
  const $set = { to: second.to, rev: randomUUID(), notBefore: now + SETTLES_MS };
  await db.updateMany("stretches", { _id, rev, to: first.to }, { $set, $unset: { sum: "" } });
  if (Date.now() - since > LATE_MS) await unsealThese(db, { _id }, await db.now());
}
