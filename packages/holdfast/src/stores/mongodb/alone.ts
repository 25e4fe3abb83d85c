/**
 * What somebody's open transaction is writing cannot be written by anybody else until it ends, and the
 * server would keep us waiting. So a call first gets a short time for all that it writes; if that was not
 * enough, each of its writes gets a short time of its own. One that is late even so is locked.
 *
 * Unless the server is just slow. Then every write is late, and nobody may take a job for safe that was
 * only not reached. So a write that no transaction keeps from us goes with them, and has to be quick. It
 * also shows that a majority has what was written in the time together.
 */
import { StoreUnavailableError } from "../../core/errors.ts";
import type { Database } from "./database.ts";
import { isTooLate } from "./mongodb-error.ts";

type Limits = { readonly maxTimeMS: number };

export const TOGETHER: Limits = { maxTimeMS: 1_000 };
const ALONE: Limits = { maxTimeMS: 500 };
const QUICK: Limits = { maxTimeMS: 250 };
/** So many at a time: all at once, they would be late for each other. */
const AT_ONCE = 32;
const MOST_TRIES = 3;

/** Writes all of them, together or each alone. Answers those that are locked. */
export async function writeAll<T>(
  db: Database,
  items: readonly T[],
  write: (some: readonly T[], limits: Limits) => Promise<unknown>,
): Promise<Set<T>> {
  try {
    await write(items, TOGETHER);
    return new Set();
  } catch (error) {
    if (!isTooLate(error)) throw error;
    return writeAlone(db, items, (item, limits) => write([item], limits));
  }
}

/** What was too late together. Answers those that are locked. */
export async function writeAlone<T>(
  db: Database,
  items: readonly T[],
  write: (item: T, limits: Limits) => Promise<unknown>,
): Promise<Set<T>> {
  const locked = new Set<T>();
  let start = 0;
  do {
    const some = items.slice(start, start + AT_ONCE);
    for (const item of await writeSome(db, some, write)) locked.add(item);
    start += AT_ONCE;
  } while (start < items.length);
  return locked;
}

async function writeSome<T>(
  db: Database,
  items: readonly T[],
  write: (item: T, limits: Limits) => Promise<unknown>,
): Promise<T[]> {
  let late = [...items];
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const failures: unknown[] = [];
    const stillLate: T[] = [];
    const writing = late.map(async (item) => {
      try {
        await write(item, ALONE);
      } catch (error) {
        if (isTooLate(error)) stillLate.push(item);
        else failures.push(error);
      }
    });
    const [isQuick] = await Promise.all([isQuickNow(db), ...writing]);
    if (failures.length > 0) throw failures[0];
    if (isQuick) return stillLate;
    late = stillLate;
  }
  throw new StoreUnavailableError("MongoDB is slow: try again", { mayHaveHappened: true });
}

async function isQuickNow(db: Database): Promise<boolean> {
  try {
    await db.confirm(QUICK);
    return true;
  } catch {
    return false;
  }
}
