/**
 * Settling. Under the current fence everything is written, under any other nothing. The order inside
 * the one write: updates, outcome, and what follows from it; then that is done (`follow-ups.ts`). The outcome comes
 * before the spawned jobs, so a child may take the key its parent has just freed.
 *
 * A success at the first attempt that brings nothing along, nearly every one, needs no reading: its
 * write names everything that must be so. Whatever it did not find is settled with thought.
 */
import { randomUUID } from "node:crypto";
import { SpawnLimitError } from "../../core/errors.ts";
import { jobLength } from "../../core/job-length.ts";
import { isFinished } from "../../core/job.ts";
import type { Settlement, SettleResult } from "../../core/store.ts";
import { conclude } from "./conclude.ts";
import type { Database, SameUpdate } from "./database.ts";
import { edit, updateOf, writtenAs, type Changes, type Edit } from "./edit.ts";
import { newDocument } from "./insert.ts";
import { PLAIN } from "./job-view.ts";
import { entryDocument } from "./ledger.ts";
import { isTooLate } from "./mongodb-error.ts";
import { bury, isRemembered } from "./moves.ts";
import { carryOut, type Pending } from "./follow-ups.ts";
import { knowQueues } from "./queue-book.ts";
import { isHeldBy, takeAlong } from "./updates.ts";
import { placeOf } from "./packs/packs.ts";
import { isTombstone, type AnyJob, type FollowUp } from "./schema.ts";
import { whileOpen } from "./stretches.ts";
import { packEndsOf, updatesOf, type PackEnd } from "./packs/settle-packs.ts";
import type { Told } from "./told.ts";

/** Plain settles get so long before those that are late are looked at one by one. */
const PLAIN_MS = 2_500;

export async function settle(
  db: Database,
  settlements: readonly Settlement[],
  told: Told,
): Promise<SettleResult[]> {
  // Of two settlements of one job the first counts, so all are settled with thought, in their order.
  const isOnce = new Set(settlements.map(({ id }) => id)).size === settlements.length;
  const plain = await settlePlainly(db, isOnce ? settlements.filter(bringsNothing) : [], told);
  if (plain.size === settlements.length) return settlements.map(() => "settled");
  const rest = settlements.filter((settlement) => !plain.has(settlement));
  const results: SettleResult[] = [];
  for (const part of inParts(rest)) results.push(...(await settleWithThought(db, part, told)));
  return settlements.map((settlement) =>
    plain.has(settlement) ? "settled" : (results[rest.indexOf(settlement)] ?? "lost"),
  );
}

function bringsNothing(settlement: Settlement): boolean {
  const { outcome, updates, spawn, entries, outbox } = settlement;
  if (outcome.kind !== "succeed" || updates !== undefined) return false;
  const brings = [spawn, entries, outbox].some((items) => items !== undefined && items.length > 0);
  return !brings;
}

/** What is late may be locked: that is found out with thought. */
async function isAllFound(
  db: Database,
  updates: readonly SameUpdate[],
  count: number,
): Promise<boolean> {
  const limits = db.hasTransactions && !db.isInTransaction ? { maxTimeMS: PLAIN_MS } : {};
  try {
    return (await db.updateInParts("jobs", updates, limits)) === count;
  } catch (error) {
    if (db.isInTransaction || !isTooLate(error)) throw error;
    // Some of it may be done, and the server has not waited until a majority has it.
    await db.confirm();
    return false;
  }
}

/** A spawned job may want a key that a later settlement frees: that one must wait. */
function inParts(settlements: readonly Settlement[]): Settlement[][] {
  const parts: Settlement[][] = [];
  let part: Settlement[] = [];
  for (const settlement of settlements) {
    part.push(settlement);
    if ((settlement.spawn ?? []).every(({ dedupe }) => dedupe === null)) continue;
    parts.push(part);
    part = [];
  }
  return part.length === 0 ? parts : [...parts, part];
}

async function settlePlainly(
  db: Database,
  settlements: readonly Settlement[],
  told: Told,
): Promise<Set<Settlement>> {
  const { locks } = db.options;
  const single = settlements.filter(
    ({ id, handle, discard }) => handle === PLAIN && discard !== true && !locks.has(id),
  );
  // A caller's transaction would keep others from all jobs of a pack.
  const packs = db.isInTransaction ? [] : packEndsOf(settlements);
  if (single.length + packs.length === 0) return new Set();
  const since = Date.now();
  const [now, v] = [await db.now(), randomUUID()];
  const updates = alike(single).map((group) => {
    const [{ fence, outcome }] = group;
    const ids = group.map(({ id }) => id);
    const changes = { ...succeeded(now), ...resultOf(outcome), settledFence: fence };
    return { ids, filter: { fence, status: "processing" }, update: updateOf(changes, v) };
  });
  const ofPacks = packs.flatMap((end) => updatesOf(end, { now, v, remembersMs: db.remembersMs }));
  const all = [...updates, ...ofPacks];
  const write = () => isAllFound(db, all, single.length + packs.length);
  const isAll = await whileOpen(db, { since, times: [now] }, write);
  const ids = [...single.map(({ id }) => id), ...packs.map(({ pack }) => pack)];
  const done = isAll ? null : await writtenAs(db, ids, v);
  const isDone = (id: string): boolean => done === null || done.has(id);
  const settled = [
    ...single.filter(({ id }) => isDone(id)),
    ...packs.filter(({ pack }) => isDone(pack)).flatMap(settlementsOf),
  ];
  for (const { id, queue } of settled) {
    told.finished.push(id);
    told.roomIn.add(queue);
  }
  return new Set(settled);
}

function settlementsOf({ ended }: PackEnd): Settlement[] {
  return ended.map(({ settlement }) => settlement);
}

/** Jobs that were leased together and have the same result are settled by one statement. */
function alike(settlements: readonly Settlement[]): [Settlement, ...Settlement[]][] {
  const groups = new Map<string, [Settlement, ...Settlement[]]>();
  for (const settlement of settlements) {
    const { fence, outcome } = settlement;
    const result = resultOf(outcome);
    const name = "result" in result ? JSON.stringify([fence, result]) : String(fence);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [settlement]);
    else group.push(settlement);
  }
  return [...groups.values()];
}

/** Whatever else an end takes away, a job at its first attempt does not have. */
function succeeded(now: number): Changes {
  return {
    status: "succeeded",
    finishedAt: now,
    updatedAt: now,
    leased: null,
    leaseUntil: null,
    cancelWhy: null,
  };
}

function resultOf(outcome: Settlement["outcome"]): Changes {
  if (outcome.kind !== "succeed") return {};
  const { result, resultDropped } = outcome;
  return { ...(result === null ? {} : { result }), ...(resultDropped ? { resultDropped } : {}) };
}

interface Settled {
  readonly result: SettleResult;
  readonly pending: readonly Pending[];
  /** It had happened before. */
  readonly isAgain: boolean;
}

async function settleWithThought(
  db: Database,
  settlements: readonly Settlement[],
  told: Told,
): Promise<SettleResult[]> {
  const followUps = await prepareFollowUps(db, settlements);
  const edits = settlements.map((settlement, index): Edit<Settled> => ({
    id: settlement.id,
    ifLocked: () => ({ result: "busy", pending: [], isAgain: false }),
    think(job, now) {
      if (!isHeldBy(job, settlement)) return { answer: wasSettled(job, settlement, now) };
      const updates = takeAlong(job, settlement.updates ?? {}, now);
      const outcome = conclude({ ...job, ...updates }, settlement.outcome, { now, told });
      const own = followUps[index] ?? null;
      const all = [...(job.followUps ?? []), ...(own === null ? [] : [own])];
      const changes: Changes = {
        ...updates,
        ...outcome,
        settledFence: job.fence,
        ...(all.length === 0 ? {} : { followUps: all }),
      };
      const pending = own === null ? [] : [{ jobId: job._id, followUp: own, isAgain: false }];
      const answer: Settled = { result: "settled", pending, isAgain: false };
      const after = { ...job, ...changes };
      if (settlement.discard !== true || !isFinished(after.status)) return { answer, changes };
      return { answer, tombstone: bury(after, { now, remembersMs: db.remembersMs }) };
    },
  }));
  const settled = await editConfirmed(db, edits);
  if (db.isInTransaction) {
    // They were set apart from their packs.
    for (const settlement of settlements) {
      const place = placeOf(settlement);
      if (place !== null) told.broken.add(place.pack);
    }
  }
  const pending = settled.flatMap((one) => one.pending);
  await carryOut(db, pending, told);
  return settled.map(({ result }) => result);
}

/**
 * What we only read may not have reached a majority yet, if the first answer was lost: its primary may be one no
 * more, and what it wrote undone. So it is read again once a majority has all that was written, and settled now if it
 * is undone. What others have made of the job meanwhile came later, and the answer stays. A caller's transaction waits
 * for that when it is committed, and would keep `head` from all others.
 */
async function editConfirmed(db: Database, edits: readonly Edit<Settled>[]): Promise<Settled[]> {
  const needless = { payload: 0, result: 0 };
  const settled = await edit(db, edits, needless);
  const again = edits.filter((_, index) => settled[index]?.isAgain === true);
  if (db.isInTransaction || again.length === 0) return settled;
  await db.confirm();
  const confirmed = await edit(db, again, needless);
  return settled.map((first, index) => {
    const second = confirmed[again.indexOf(edits[index] as Edit<Settled>)];
    return second?.result === "settled" ? second : first;
  });
}

/** Is this the repeat of the job's last settle? Then what still follows from it is done, too. */
function wasSettled(job: AnyJob | null, { fence }: Settlement, now: number): Settled {
  const isForgotten = job === null || (isTombstone(job) && !isRemembered(job, now));
  if (isForgotten || job.settledFence !== fence)
    return { result: "lost", pending: [], isAgain: false };
  const own = (job.followUps ?? []).filter(({ id }) => id === `${job._id}:${fence}`);
  const pending = own.map((followUp): Pending => ({ jobId: job._id, followUp, isAgain: true }));
  return { result: "settled", pending, isAgain: true };
}

/** In UTF-16 units: what follows from a settle is a part of its job's document, which has 16 MB. */
const MOST_FOLLOWING = 4 * 1024 * 1024;

/** Said before anything is written: the server would refuse it, and a repeat of it, for ever. */
function mustFit({ id, spawn = [], entries = [], outbox = [] }: Settlement): void {
  const jobs = spawn.reduce((sum, job) => sum + jobLength(job), 0);
  const length = [...entries, ...outbox].reduce((sum, { body }) => sum + body.length, jobs);
  if (length <= MOST_FOLLOWING) return;
  throw new SpawnLimitError(
    `what follows from the end of job ${id} is more than MongoDB keeps in one document: spawn one job that spawns the rest`,
  );
}

/** Whole documents with their numbers, so that doing it twice does the same. */
async function prepareFollowUps(
  db: Database,
  settlements: readonly Settlement[],
): Promise<(FollowUp | null)[]> {
  const sizes = settlements.map(({ spawn = [], entries = [], outbox = [] }) => {
    return spawn.length + entries.length + (outbox.length > 0 ? 1 : 0);
  });
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total === 0) return settlements.map(() => null);
  for (const settlement of settlements) mustFit(settlement);
  const names = settlements.flatMap(({ spawn = [] }) => spawn.map(({ queue }) => queue));
  const [{ first, now }] = await Promise.all([db.reserve(total), knowQueues(db, names)]);
  let next = first;
  return settlements.map(({ id, fence, spawn = [], entries = [], outbox = [] }, index) => {
    if (sizes[index] === 0) return null;
    const from = `${id}:${fence}`;
    return {
      id: from,
      at: now,
      jobs: spawn.map((job) => newDocument(job, { seq: next++, now, from })),
      entries: entries.map((entry) => entryDocument(entry, { seq: next++, now })),
      outbox: outbox.length === 0 ? null : { _id: from, seq: next++, entries: [...outbox] },
    };
  });
}
