/**
 * Changing jobs: read, think here, write what has not changed meanwhile; whatever has, is read and
 * thought about again. Each job changes in one write, whole or not at all.
 */
import { randomUUID } from "node:crypto";
import { StoreUnavailableError } from "../../core/errors.ts";
import { present, type Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import { duplicatesIn, isDuplicateKey, isTooLate } from "./mongodb-error.ts";
import type { AnyJob, JobDocument, Tombstone } from "./schema.ts";
import { wholeJob } from "./whole-job.ts";

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

const TOGETHER_MS = 2_000;
const ALONE_MS = 300;
/** So many at a time: all at once, a server that is only slow would be late for each of them, too. */
const ALONE_AT_ONCE = 32;

const MOST_ROUNDS = 200;

/** `projection` says what the thinking needs not read. */
export async function edit<Answer>(
  db: Database,
  edits: readonly Edit<Answer>[],
  projection: Document = {},
): Promise<Answer[]> {
  const answers = new Map<Edit<Answer>, Answer>();
  let left: readonly Edit<Answer>[] = edits;
  for (let round = 0; left.length > 0; round++) {
    if (round >= MOST_ROUNDS) {
      const message = "others kept changing the same jobs: try again";
      throw new StoreUnavailableError(message, { mayHaveHappened: true });
    }
    // Of several edits of one job each sees what the one before has done.
    const now = firstOfEachJob(left);
    await editOnce(db, now, { answers, projection });
    left = left.filter((one) => !answers.has(one));
  }
  return edits.map((one) => answers.get(one) as Answer);
}

function firstOfEachJob<E extends { readonly id: string }>(edits: readonly E[]): E[] {
  const seen = new Set<string>();
  return edits.filter(({ id }) => !seen.has(id) && seen.add(id));
}

async function editOnce<Answer>(
  db: Database,
  edits: readonly Edit<Answer>[],
  how: { readonly answers: Map<Edit<Answer>, Answer>; readonly projection: Document },
): Promise<void> {
  const { answers, projection } = how;
  const ids = edits.map(({ id }) => id);
  const [jobs, now] = await Promise.all([
    db.find<AnyJob>("jobs", { _id: { $in: ids } }, { projection }),
    db.now(),
  ]);
  const byId = new Map(jobs.map((job) => [job._id, wholeJob(job)]));
  const v = randomUUID();
  const writes: Write<Answer>[] = [];
  for (const one of edits) {
    const job = byId.get(one.id) ?? null;
    const thought = one.think(job, now);
    const operation = job === null ? null : operationOf(job, thought, v);
    if (operation === null) answers.set(one, thought.answer);
    else writes.push({ one, answer: thought.answer, operation });
  }
  if (writes.length === 0) return;
  const { isAllDone, isLate } = await write(db, writes);
  const done = isAllDone ? null : await writtenAs(db, v, writes);
  for (const { one, answer } of writes) {
    if (done === null || done.has(one.id)) answers.set(one, answer);
  }
  if (isLate) await writeAlone(db, writes, answers);
}

interface Write<Answer> {
  readonly one: Edit<Answer>;
  readonly answer: Answer;
  readonly operation: Document;
}

async function write<Answer>(
  db: Database,
  writes: readonly Write<Answer>[],
): Promise<{ readonly isAllDone: boolean; readonly isLate: boolean }> {
  const operations = writes.map(({ operation }) => operation);
  try {
    const limits = db.isInTransaction ? {} : { maxTimeMS: TOGETHER_MS };
    const matched = await db.bulk("jobs", operations, limits);
    return { isAllDone: matched === writes.length, isLate: false };
  } catch (error) {
    if (db.isInTransaction) throw error;
    if (isTooLate(error)) return { isAllDone: false, isLate: true };
    const taken = duplicatesIn(error) ?? (isDuplicateKey(error) ? [{ index: 0 }] : null);
    if (taken === null) throw error;
    for (const { index } of taken) writes[index]?.one.onKeyTaken?.();
    return { isAllDone: false, isLate: false };
  }
}

/** One job that an open transaction has must not keep the others waiting. */
async function writeAlone<Answer>(
  db: Database,
  writes: readonly Write<Answer>[],
  answers: Map<Edit<Answer>, Answer>,
): Promise<void> {
  const open = writes.filter(({ one }) => !answers.has(one));
  const tryAlone = async ({ one, answer, operation }: Write<Answer>): Promise<void> => {
    try {
      const matched = await db.bulk("jobs", [operation], { maxTimeMS: ALONE_MS });
      if (matched === 1) answers.set(one, answer);
    } catch (error) {
      if (!isTooLate(error)) throw error;
      if (one.ifLocked !== undefined) {
        answers.set(one, one.ifLocked());
        return;
      }
      const message = "an open transaction has this job: try again once it has ended";
      throw new StoreUnavailableError(message, { cause: error, mayHaveHappened: true });
    }
  };
  const failures: unknown[] = [];
  for (let start = 0; start < open.length; start += ALONE_AT_ONCE) {
    const some = open.slice(start, start + ALONE_AT_ONCE).map(tryAlone);
    for (const tried of await Promise.allSettled(some)) {
      if (tried.status === "rejected") failures.push(tried.reason);
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function writtenAs<Answer>(
  db: Database,
  v: string,
  writes: readonly { one: Edit<Answer> }[],
): Promise<Set<string>> {
  const ids = writes.map(({ one }) => one.id);
  const projection = { _id: 1 };
  const found = await db.find<{ _id: string }>("jobs", { _id: { $in: ids }, v }, { projection });
  return new Set(found.map(({ _id }) => _id));
}

function operationOf(
  job: AnyJob,
  { changes, tombstone, provided = {} }: Thought<unknown>,
  v: string,
): Document | null {
  const filter = { _id: job._id, v: job.v, ...provided };
  if (tombstone !== undefined) {
    return { replaceOne: { filter, replacement: present({ ...tombstone, v }) } };
  }
  if (changes === undefined) return null;
  return { updateOne: { filter, update: updateOf({ ...changes, fresh: null }, v) } };
}

/** What is null is taken away: a field that marks a place must not exist elsewhere. */
export function updateOf(changes: Document, v: string): Document {
  const gone = Object.entries(changes).filter(([, value]) => value === null || value === undefined);
  const $unset = Object.fromEntries(gone.map(([name]) => [name, ""]));
  const $set = { ...present(changes), v };
  return gone.length === 0 ? { $set } : { $set, $unset };
}
