/**
 * What a caller's open transaction is writing, no other caller can write until it ends. The server lets a
 * plain write wait for that, and does not say why. A write inside a transaction does not wait: the server
 * answers at once that it is in conflict. So a plain write gets a short time; if that was not enough, the
 * same write is tried in transactions of our own, which are taken back: those that are in conflict are locked.
 *
 * What is locked may stay so for long: after its client was killed, the server keeps a transaction open for
 * a minute or more. So each process remembers what it found locked, and asks about that before it writes
 * the rest. Jobs that no transaction has never wait for one that is locked.
 *
 * A standalone server has no transactions, so nothing is locked there.
 */
import { setTimeout as pause } from "node:timers/promises";
import { StoreUnavailableError } from "../../core/errors.ts";
import type { Database } from "./database.ts";
import { isConflict, isDuplicate, isTooLate } from "./mongodb-error.ts";

export type Limits = { readonly maxTimeMS?: number };

/** The times that a write of all gets, one after the other; each item adds a millisecond. */
const PATIENCE_MS = [500, 2_000, 4_000];
/** Another process may be asking about the same one, which looks like a lock for some milliseconds. */
const ASKED_AGAIN = 3;
const PAUSE_MS = 15;
/** Transactions of our own that are open at the same time. */
const AT_ONCE = 16;
/** Of more, halves are asked about first. */
const ONE_BY_ONE = 50;
/** It does not wait for locks. If it is late even so, the server is slow, and nothing is known. */
const TRIAL_MS = 1_000;
/** Names are remembered until they are found free, the newest so many. */
const MOST_REMEMBERED = 5_000;

/** What this process found locked when it last asked. */
export class Locks {
  readonly #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  note(name: string, isLocked: boolean): void {
    this.#names.delete(name);
    if (!isLocked) return;
    this.#names.add(name);
    const [oldest] = this.#names;
    if (this.#names.size > MOST_REMEMBERED && oldest !== undefined) this.#names.delete(oldest);
  }
}

export interface FreeWrite<T> {
  /** By which a locked one is remembered. */
  nameOf(item: T): string;
  /** May be repeated, and is also tried in a transaction (`to.isInTransaction`) that is taken back. */
  write(to: Database, some: readonly T[], limits: Limits): Promise<unknown>;
  /** For those who meet many that are locked: nothing is written before all were asked about. */
  readonly asksFirst?: boolean;
}

/** Writes all of them but those that are locked, and answers these. */
export async function writeFree<T>(
  db: Database,
  items: readonly T[],
  how: FreeWrite<T>,
): Promise<Set<T>> {
  if (db.isInTransaction || !db.hasTransactions) {
    await how.write(db, items, {});
    return new Set();
  }
  const { locks } = db.options;
  const suspects = how.asksFirst ? items : items.filter((item) => locks.has(how.nameOf(item)));
  const locked = await lockedAmong(db, suspects, how);
  for (const patienceMs of PATIENCE_MS) {
    const free = items.filter((item) => !locked.has(item));
    if (free.length === 0) return locked;
    try {
      await how.write(db, free, { maxTimeMS: patienceMs + free.length });
      return locked;
    } catch (error) {
      if (!isTooLate(error)) throw error;
    }
    for (const item of await lockedAmong(db, free, how)) locked.add(item);
  }
  throw new StoreUnavailableError("MongoDB is slow: try again", { mayHaveHappened: true });
}

async function lockedAmong<T>(
  db: Database,
  items: readonly T[],
  how: FreeWrite<T>,
): Promise<Set<T>> {
  let suspects = await inConflict(db, items, how);
  // Of whoever asks first a wrong answer only makes the next call do it.
  const times = how.asksFirst ? ASKED_AGAIN - 1 : ASKED_AGAIN;
  for (let asked = 1; asked < times && suspects.length > 0; asked += 1) {
    await pause(PAUSE_MS * (1 + Math.random()));
    suspects = await eachInConflict(db, suspects, how);
  }
  const locked = new Set(suspects);
  for (const item of items) db.options.locks.note(how.nameOf(item), locked.has(item));
  return locked;
}

/** All at once; where that is in conflict, fewer at once, and at last each by itself. */
async function inConflict<T>(db: Database, items: readonly T[], how: FreeWrite<T>): Promise<T[]> {
  if (items.length === 0 || (await tryOut(db, items, how)) === "free") return [];
  if (items.length <= ONE_BY_ONE) return eachInConflict(db, items, how);
  const half = Math.ceil(items.length / 2);
  const first = await inConflict(db, items.slice(0, half), how);
  return [...first, ...(await inConflict(db, items.slice(half), how))];
}

async function eachInConflict<T>(
  db: Database,
  items: readonly T[],
  how: FreeWrite<T>,
): Promise<T[]> {
  const found: T[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE) {
    const some = items.slice(start, start + AT_ONCE);
    const answers = await Promise.all(some.map((item) => tryOut(db, [item], how)));
    found.push(...some.filter((_, index) => answers[index] === "conflict"));
  }
  return found;
}

/** `duplicate`: it ended at one that is there already, and says nothing of those behind it. */
async function tryOut<T>(
  db: Database,
  items: readonly T[],
  { write }: FreeWrite<T>,
): Promise<"free" | "conflict" | "duplicate"> {
  const trial = db.trial();
  try {
    await write(trial.db, items, { maxTimeMS: TRIAL_MS + items.length });
    return "free";
  } catch (error) {
    if (isConflict(error)) return "conflict";
    if (isDuplicate(error)) return "duplicate";
    throw error;
  } finally {
    trial.takeBack();
  }
}
