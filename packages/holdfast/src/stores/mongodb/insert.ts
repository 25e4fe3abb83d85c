/**
 * Inserting. The unique indexes decide: of ids about repeated ones, of `k` about keys. So the common
 * case asks nothing before it writes; only what was refused is looked at. Where more must be decided
 * (the room of a queue, a caller's transaction, which a refusal would end), one looks first.
 */
import { StoreUnavailableError } from "../../core/errors.ts";
import type { NewJob } from "../../core/job.ts";
import type { InsertOptions, InsertResult } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import type { Database } from "./database.ts";
import { countReady } from "./packs/fresh.ts";
import { withQueueLock } from "./queue-lock.ts";
import { addFree } from "./busy-key.ts";
import { insertFresh, isPlain } from "./packs/insert-fresh.ts";
import { askedKey, keyOf, Standers } from "./keys.ts";
import type { JobDocument, QueueDocument } from "./schema.ts";
import { inLine, isSoon } from "./placement.ts";
import type { Told } from "./told.ts";

const MOST_ROUNDS = 50;
/** Whoever changes the job gives it another one. */
const FIRST_VERSION = "";

export async function insert(
  db: Database,
  jobs: readonly NewJob[],
  { evenIfFull = false, areNew = false, told }: InsertOptions & { readonly told: Told },
): Promise<InsertResult[]> {
  const { first, now, bounds } = await db.reserve(jobs.length);
  const names = new Set(jobs.map(({ queue }) => queue));
  const queues = await db.options.known.of(db, names, { bounds, now });
  const rooms = evenIfFull ? [] : queues.filter(({ maxWaiting }) => maxWaiting !== undefined);
  const call = { jobs, first, now, areNew };
  const add = (room: Room | null): Promise<InsertResult[]> => addJobs(db, call, room);
  const results = rooms.length === 0 ? await add(null) : await inBounds(db, rooms, add);
  for (let index = 0; index < jobs.length; index++) {
    const job = jobs[index] as NewJob;
    const isAdded = results[index]?.outcome === "added";
    if (!isAdded || !isSoon({ runAt: dueTime(job, now), now })) continue;
    told.queues.add(job.queue);
    told.added++;
  }
  return results;
}

interface InsertCall {
  readonly jobs: readonly NewJob[];
  /** The number of the first of them. */
  readonly first: number;
  readonly now: number;
  readonly areNew: boolean;
}

/**
 * The plain ones wait among the fresh, if nobody else knows their ids. Not in a caller's transaction:
 * leases would have to look there. And in a bounded queue only if all of them are plain: only in their turn
 * do the others find out whether they need room.
 */
async function addJobs(
  db: Database,
  { jobs, first, now, areNew }: InsertCall,
  room: Room | null,
): Promise<InsertResult[]> {
  const documentAt = (at: number): JobDocument =>
    newDocument(jobs[at] as NewJob, { seq: first + at, now });
  const mayBeFresh = areNew && !db.isInTransaction && (room === null || jobs.every(isPlain));
  if (!mayBeFresh) {
    const documents = jobs.map((_, at) => documentAt(at));
    return addDocuments(db, documents, { now, room, areNew, looksFirst: room !== null });
  }
  const results = jobs.map((job) => fullness(room, job) ?? added(job.id));
  const isFree = (at: number): boolean => results[at]?.outcome === "added";
  const isPlainAt = (at: number): boolean => isPlain(jobs[at] as NewJob);
  const takes = (at: number): boolean => isFree(at) && isPlainAt(at);
  const left = (await insertFresh(db, { jobs, first, now, takes })).filter(isFree);
  if (left.length === 0) return results;
  // Somebody has the numbers of the plain ones: themselves, most likely, by a try whose reply got lost.
  const areStillNew = !left.some(isPlainAt);
  const rest = await addDocuments(db, left.map(documentAt), { now, areNew: areStillNew });
  for (const [index, at] of left.entries()) results[at] = rest[index] as InsertResult;
  return results;
}

/** How many more jobs may wait, by queue; queues without a bound are not in it. */
type Room = Map<string, { left: number; readonly maxWaiting: number }>;

/** Under the locks of all bounded queues, in one order for everybody. */
async function inBounds(
  db: Database,
  queues: readonly QueueDocument[],
  add: (room: Room) => Promise<InsertResult[]>,
): Promise<InsertResult[]> {
  const sorted = queues.toSorted((a, b) => (a._id < b._id ? -1 : 1));
  const room: Room = new Map();
  const enter = async (index: number): Promise<InsertResult[]> => {
    const queue = sorted[index];
    if (queue === undefined) return add(room);
    const count = async (): Promise<InsertResult[]> => {
      const maxWaiting = queue.maxWaiting ?? 0;
      const [ready, due] = await Promise.all([
        countReady(db, { ready: queue._id }, maxWaiting + 1),
        db.count("jobs", { due: queue._id }, maxWaiting + 1),
      ]);
      const waiting = ready + due;
      room.set(queue._id, { left: Math.max(0, maxWaiting - waiting), maxWaiting });
      return enter(index + 1);
    };
    // A caller's transaction must not lock a queue that it may keep for long.
    return db.isInTransaction ? count() : withQueueLock(db, queue._id, count);
  };
  return enter(0);
}

export async function addDocuments(
  db: Database,
  documents: readonly JobDocument[],
  how: {
    readonly now: number;
    readonly room?: Room | null;
    readonly looksFirst?: boolean;
    /** Nobody else knows their ids. */
    readonly areNew?: boolean;
  },
): Promise<InsertResult[]> {
  const { now, room = null, areNew = false } = how;
  const results = new Map<JobDocument, InsertResult>();
  let looksFirst = how.looksFirst === true || db.isInTransaction || mustLook(documents, { areNew });
  let left = documents;
  for (let round = 0; left.length > 0; round++) {
    if (round >= MOST_ROUNDS) {
      const message = "others kept taking and freeing the same keys: try again";
      throw new StoreUnavailableError(message, { mayHaveHappened: true });
    }
    // What a write has refused is there: the server has answered that after a majority had it.
    const confirms = round === 0 && !db.isInTransaction;
    const free = looksFirst ? await lookFirst(db, left, { now, room, results, confirms }) : left;
    const { refused, busy } = await addFree(db, free, { areNew: areNew && round === 0 });
    // So it is nearly always.
    if (free === documents && refused.size === 0 && busy.size === 0)
      return documents.map(({ _id }) => added(_id));
    for (const job of free) {
      if (busy.has(job)) results.set(job, { outcome: "busy" });
      else if (!refused.has(job)) results.set(job, added(job._id));
      else if (room !== null) giveBack(room, job);
    }
    left = documents.filter((job) => !results.has(job));
    looksFirst = true;
  }
  return documents.map((job) => results.get(job) as InsertResult);
}

function added(id: string): InsertResult {
  return { outcome: "added", id };
}

/**
 * What the indexes cannot decide: a job that asks for a key without taking it, which they do not see;
 * and jobs of one call that are in each other's way, where the order of the questions counts.
 */
function mustLook(
  documents: readonly JobDocument[],
  { areNew }: { readonly areNew: boolean },
): boolean {
  const isRepeated = (names: readonly string[]): boolean => new Set(names).size < names.length;
  if (!areNew && isRepeated(documents.map(({ _id }) => _id))) return true;
  const keyed = documents.filter(({ dedupe }) => dedupe != null);
  if (keyed.length === 0) return false;
  const keys = keyed.flatMap((job) => askedKey(job) ?? []);
  return keyed.some((job) => askedKey(job) !== (job.k ?? null)) || isRepeated(keys);
}

/** Answers those that nothing is in the way of; the results of the others are known now. */
async function lookFirst(
  db: Database,
  documents: readonly JobDocument[],
  how: {
    readonly now: number;
    readonly room: Room | null;
    readonly results: Map<JobDocument, InsertResult>;
    readonly confirms: boolean;
  },
): Promise<JobDocument[]> {
  const { now, room, results, confirms } = how;
  const standers = confirms
    ? await confirmedStanders(db, documents, now)
    : await Standers.inTheWayOf(db, documents, now);
  const free: JobDocument[] = [];
  for (const job of documents) {
    const refusal = standers.refusal(job) ?? fullness(room, job);
    if (refusal !== null) {
      results.set(job, refusal);
      continue;
    }
    standers.add(job);
    free.push(job);
  }
  return free;
}

/**
 * Whoever is told of a job that is there already believes that it stays. What is only read a failover may still
 * undo: so it must be there before a majority has all that was written, and after that.
 */
async function confirmedStanders(
  db: Database,
  documents: readonly JobDocument[],
  now: number,
): Promise<Standers> {
  const confirmed = new Set<string>();
  for (;;) {
    const standers = await Standers.inTheWayOf(db, documents, now);
    const ids = documents.flatMap((job) => standers.refusal(job)?.id ?? []);
    const unsure = ids.filter((id) => !confirmed.has(id));
    if (unsure.length === 0) return standers;
    await db.confirm();
    for (const id of unsure) confirmed.add(id);
  }
}

function fullness(room: Room | null, job: Pick<NewJob, "queue">): InsertResult | null {
  const bound = room?.get(job.queue);
  if (bound === undefined) return null;
  if (bound.left <= 0) return { outcome: "full", maxWaiting: bound.maxWaiting };
  bound.left--;
  return null;
}

function giveBack(room: Room, job: JobDocument): void {
  const bound = room.get(job.queue);
  if (bound !== undefined) bound.left++;
}

function dueTime({ runAt, delayMs }: NewJob, now: number): number {
  return runAt ?? instantAfter(now, delayMs);
}

export function newDocument(
  job: NewJob,
  {
    seq,
    now,
    from = null,
  }: { readonly seq: number; readonly now: number; readonly from?: string | null },
): JobDocument {
  const { id, queue, group, type, payload, priority, maxAttempts, tags, meta, trace } = job;
  const runAt = dueTime(job, now);
  const dedupe = job.dedupe === null ? null : { ...job.dedupe };
  const { ready, due, leased } = inLine(queue, { runAt, now });
  const { k, kx } = keyOf({ queue, status: "queued", createdAt: now, dedupe }, now);
  return {
    // What the indexes ask for comes first: the server looks through the fields in their order.
    _id: id,
    ids: id,
    ready,
    due,
    leased,
    group,
    priority,
    seq,
    type,
    queue,
    status: "queued",
    fresh: maxAttempts > 0 ? true : null,
    k: k ?? null,
    kx: kx ?? null,
    v: FIRST_VERSION,
    maxAttempts,
    attempts: 0,
    crashes: 0,
    deferrals: 0,
    fence: 0,
    createdAt: now,
    updatedAt: now,
    runAt,
    tags: tags.length === 0 ? null : [...tags],
    meta,
    trace,
    dedupe,
    from,
    payload,
  };
}
