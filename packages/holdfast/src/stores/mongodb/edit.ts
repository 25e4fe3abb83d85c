/**
 * Changing jobs: read, think here, write what has not changed meanwhile; whatever has, is read and
 * thought about again. Each job changes in one write, whole or not at all.
 */
import { randomUUID } from "node:crypto";
import { StoreUnavailableError } from "../../core/errors.ts";
import { present, type Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { clearFresh } from "./packs/fresh.ts";
import { writeFree } from "./locks.ts";
import { lookUp } from "./look-up.ts";
import { duplicatesIn, isDuplicateKey } from "./mongodb-error.ts";
import { isTombstone, type AnyJob, type JobDocument, type Tombstone } from "./schema.ts";
import { whileOpen } from "./stretches.ts";
import { unpack } from "./packs/unpack.ts";

/** What becomes of the fields of a job; null takes one away. */
export type Changes = { -readonly [K in keyof Omit<JobDocument, "_id" | "v">]?: JobDocument[K] };

export interface Thought<Answer> {
  readonly answer: Answer;
  /** Absent: nothing is written. */
  readonly changes?: Changes;
  /** Instead of changes: this is all that is left. */
  readonly tombstone?: Omit<Tombstone, "v">;
  /** What must still be so when it is written, beyond that nobody else has changed the job. */
  readonly provided?: Document;
}

export interface Edit<Answer> {
  readonly id: string;
  /** Null: there is no such job, nor a memory of it. May be asked again. */
  think(job: AnyJob | null, now: number): Thought<Answer>;
  /** Hears that the key it wants is taken, before it thinks again. */
  readonly onKeyTaken?: () => void;
  /** What is answered if somebody's open transaction has the job. Default: an error that says so. */
  readonly ifLocked?: () => Answer;
}

const MOST_ROUNDS = 200;

/** `projection` says what the thinking needs not read; `asksFirst` that many may be locked. */
export async function edit<Answer>(
  db: Database,
  edits: readonly Edit<Answer>[],
  projection: Document = {},
  { asksFirst = false }: { readonly asksFirst?: boolean } = {},
): Promise<Answer[]> {
  const answers = new Map<Edit<Answer>, Answer>();
  const locked = new Set<Edit<Answer>>();
  let left: readonly Edit<Answer>[] = edits;
  for (let round = 0; left.length > 0; round++) {
    if (round >= MOST_ROUNDS) {
      const message = "others kept changing the same jobs: try again";
      throw new StoreUnavailableError(message, { mayHaveHappened: true });
    }
    // Of several edits of one job each sees what the one before has done.
    const now = firstOfEachJob(left);
    await editOnce(db, now, { answers, locked, projection, asksFirst });
    left = left.filter((one) => !answers.has(one) && !locked.has(one));
  }
  if (locked.size > 0) throw lockedError();
  return edits.map((one) => answers.get(one) as Answer);
}

function firstOfEachJob<E extends { readonly id: string }>(edits: readonly E[]): E[] {
  const seen = new Set<string>();
  return edits.filter(({ id }) => !seen.has(id) && seen.add(id));
}

async function editOnce<Answer>(
  db: Database,
  edits: readonly Edit<Answer>[],
  how: {
    readonly answers: Map<Edit<Answer>, Answer>;
    /** Those that an open transaction keeps from us, and who cannot be answered without. */
    readonly locked: Set<Edit<Answer>>;
    readonly projection: Document;
    readonly asksFirst: boolean;
  },
): Promise<void> {
  const { answers, locked, projection, asksFirst } = how;
  const ids = edits.map(({ id }) => id);
  const since = Date.now();
  const [{ jobs }, now] = await Promise.all([lookUp(db, ids, projection), db.now()]);
  const v = randomUUID();
  const writes: Write<Answer>[] = [];
  const packs = new Set<string>();
  const times: Finished[] = [];
  for (const one of edits) {
    const job = jobs.get(one.id) ?? null;
    const thought = one.think(job, now);
    times.push(...finishedBy(job, thought));
    const operation = job === null ? null : operationOf(job, thought, v);
    if (operation === null) answers.set(one, thought.answer);
    // In a pack nothing can be written of one job. Next time it has a document of its own.
    else if (job?.packed !== undefined && !db.isInTransaction) packs.add(job.packed.pack);
    else
      writes.push({
        one,
        answer: thought.answer,
        operation,
        waited: job !== null && "waits" in job ? job : null,
      });
  }
  const setLocked = (one: Edit<Answer>): void => {
    if (one.ifLocked === undefined) locked.add(one);
    else answers.set(one, one.ifLocked());
  };
  const kept = await unpack(db, packs);
  for (const one of edits) if (kept.has(one.id)) setLocked(one);
  if (writes.length === 0) return;
  const change = { since, times };
  const { isAllDone, refused } = await whileOpen(db, change, () => write(db, writes, asksFirst));
  const done = isAllDone ? null : await writtenAs(db, ids, v);
  for (const { one, answer } of writes) {
    if (done === null ? !refused.has(one.id) : done.has(one.id)) answers.set(one, answer);
    else if (refused.has(one.id)) setLocked(one);
  }
  const moved = writes.filter(({ one }) => answers.has(one)).flatMap(({ waited }) => waited ?? []);
  if (moved.length > 0) await clearFresh(db, moved);
}

type Finished = number | null | undefined;

/** When it had finished, and when it has by now, if one of the two is to change. */
function finishedBy(job: AnyJob | null, { changes, tombstone }: Thought<unknown>): Finished[] {
  if (job === null || isTombstone(job)) return [];
  const isMoved = tombstone !== undefined || changes?.status !== undefined;
  return isMoved ? [job.finishedAt, changes?.finishedAt] : [];
}

interface Write<Answer> {
  readonly one: Edit<Answer>;
  readonly answer: Answer;
  readonly operation: Document;
  /** The job, if it was fresh. */
  readonly waited: JobDocument | null;
}

/** `refused`: those that an open transaction has. They keep no others waiting. */
async function write<Answer>(
  db: Database,
  writes: readonly Write<Answer>[],
  asksFirst: boolean,
): Promise<{ readonly isAllDone: boolean; readonly refused: ReadonlySet<string> }> {
  let isAllDone = false;
  const locked = await writeFree(db, writes, {
    nameOf: ({ one }) => one.id,
    asksFirst,
    async write(to, some, limits) {
      const operations = some.map(({ operation }) => operation);
      try {
        const matched = await to.bulk("jobs", operations, limits);
        isAllDone = matched === some.length;
      } catch (error) {
        const taken = duplicatesIn(error) ?? (isDuplicateKey(error) ? [{ index: 0 }] : null);
        if (to.isInTransaction || taken === null) throw error;
        for (const { index } of taken) some[index]?.one.onKeyTaken?.();
        isAllDone = false;
      }
    },
  });
  return { isAllDone, refused: new Set([...locked].map(({ one }) => one.id)) };
}

function lockedError(): StoreUnavailableError {
  const message = "an open transaction has this job: try again once it has ended";
  return new StoreUnavailableError(message, { mayHaveHappened: true });
}

/** Those of these documents that a write has marked so. */
export async function writtenAs(
  db: Database,
  ids: readonly string[],
  v: string,
): Promise<Set<string>> {
  const projection = { _id: 1 };
  const found = await db.find<{ _id: string }>("jobs", { _id: { $in: ids }, v }, { projection });
  return new Set(found.map(({ _id }) => _id));
}

function operationOf(job: AnyJob, thought: Thought<unknown>, v: string): Document | null {
  const { changes, tombstone, provided = {} } = thought;
  const filter = { _id: job._id, v: job.v, ...provided };
  if ("waits" in job || job.packed !== undefined) return insertionOf(job, thought, v);
  if (tombstone !== undefined) {
    return { replaceOne: { filter, replacement: present({ ...tombstone, v }) } };
  }
  if (changes === undefined) return null;
  const again = againOf(job as JobDocument, changes);
  return { updateOne: { filter, update: updateOf({ ...changes, ...again, fresh: null }, v) } };
}

/** Whether it waits with attempts behind it, if these changes say something of that. */
function againOf(job: JobDocument, changes: Changes): Changes {
  if (changes.status === undefined) return {};
  const { status, attempts, queue } = { ...job, ...changes };
  return { again: status === "queued" && attempts > 0 ? queue : null };
}

/**
 * A job that was fresh gets its document as it has become; whoever leases it at the same time wants to
 * insert the same id, and the server lets one of them.
 *
 * So it is with a job of a pack in a caller's transaction. There the pack cannot be taken apart: others
 * would have to wait for the jobs beside this one.
 */
function insertionOf(
  job: AnyJob,
  { changes, tombstone }: Thought<unknown>,
  v: string,
): Document | null {
  if (tombstone !== undefined) return { insertOne: { document: present({ ...tombstone, v }) } };
  if (changes === undefined) return null;
  const { packed: _packed, waits: _waits, ...kept } = job as JobDocument;
  const again = againOf(kept as JobDocument, changes);
  return { insertOne: { document: present({ ...kept, ...changes, ...again, fresh: null, v }) } };
}

/** What is null is taken away: a field that marks a place must not exist elsewhere. */
export function updateOf(changes: Document, v: string): Document {
  const gone = Object.entries(changes).filter(([, value]) => value === null || value === undefined);
  const $unset = Object.fromEntries(gone.map(([name]) => [name, ""]));
  const $set = { ...present(changes), v };
  return gone.length === 0 ? { $set } : { $set, $unset };
}
