/**
 * Records: compare and set, each by one write that names the version it expects. Versions come from the
 * numbers that nobody else gets, so they grow across deletion with nothing to remember of the deleted.
 */
import { InvalidCursorError, StoreUnavailableError } from "../../core/errors.ts";
import type { StoredRecord, Swap, SwapResult } from "../../core/records.ts";
import { fromSortable, sortable } from "../../core/sortable-key.ts";
import { instantAfter } from "./clock.ts";
import type { Database } from "./database.ts";

interface RecordDocument {
  /** The key, so that the server sorts it as JavaScript does. */
  readonly _id: string;
  readonly version: number;
  readonly value: string;
  readonly expiresAt?: number;
  /** Its last versions before this one: how a write among many finds out that it was done, and overwritten since. */
  readonly past?: readonly number[];
}

const MOST_ROUNDS = 100;
const PAST_VERSIONS = 8;

export async function readRecords(
  db: Database,
  keys: readonly string[],
): Promise<(StoredRecord | null)[]> {
  const [byKey, now] = await Promise.all([documentsOf(db, keys), db.now()]);
  return keys.map((key) => shownOf(byKey.get(key), now));
}

/** In order, so a later item of the call sees what an earlier one wrote. */
export async function swap(db: Database, swaps: readonly Swap[]): Promise<SwapResult[]> {
  const results = new Map<Swap, SwapResult>();
  for (let round = 0; results.size < swaps.length; round++) {
    if (round >= MOST_ROUNDS) {
      const message = "others kept changing the same records: try again";
      throw new StoreUnavailableError(message, { mayHaveHappened: true });
    }
    const seen = new Set<string>();
    const next = swaps.filter(
      (one) => !results.has(one) && !seen.has(one.key) && seen.add(one.key),
    );
    const [byKey, { first, now }] = await Promise.all([
      documentsOf(db, [...seen]),
      db.reserve(next.length),
    ]);
    const tries: Try[] = [];
    for (const [index, one] of next.entries()) {
      const document = byKey.get(one.key) ?? null;
      const current = shownOf(document, now);
      if ((current?.version ?? null) !== one.expect) {
        results.set(one, { swapped: false, current });
      } else if (one.value === null && document === null) {
        results.set(one, { swapped: true, version: null });
      } else
        tries.push({ one, document, next: nextOf(one, { document, version: first + index, now }) });
    }
    // Those that somebody else was quicker with are looked at again.
    for (const { one, next: written } of await writeAll(db, tries)) {
      results.set(one, { swapped: true, version: written?.version ?? null });
    }
  }
  return swaps.map((one) => results.get(one) as SwapResult);
}

interface Try {
  readonly one: Swap;
  /** What is there now, expired or not. */
  readonly document: RecordDocument | null;
  /** Null: it is deleted. */
  readonly next: RecordDocument | null;
}

/** Answers those that were done. What is added is one call and what is replaced another; few are removed, each by its own. */
async function writeAll(db: Database, tries: readonly Try[]): Promise<readonly Try[]> {
  const added = tries.filter(({ document }) => document === null);
  const removed = tries.filter(({ next }) => next === null);
  const replaced = tries.filter(({ document, next }) => document !== null && next !== null);
  const done = await Promise.all([
    addAll(db, added),
    Promise.all(removed.map((one) => removeOne(db, one))),
    replaceAll(db, replaced),
  ]);
  return done.flat(2);
}

async function addAll(db: Database, tries: readonly Try[]): Promise<readonly Try[]> {
  const taken = await db.insert(
    "records",
    tries.map(({ next }) => ({ ...next })),
  );
  return tries.filter((_, index) => !taken.has(index));
}

async function removeOne(db: Database, one: Try): Promise<readonly Try[]> {
  return (await db.deleteOne("records", seenOf(one))) ? [one] : [];
}

async function replaceAll(db: Database, tries: readonly Try[]): Promise<readonly Try[]> {
  if (tries.length === 0) return [];
  const operations = tries.map((one) => ({
    replaceOne: { filter: seenOf(one), replacement: one.next },
  }));
  if ((await db.bulk("records", operations)) === tries.length) return tries;
  if (tries.length === 1) return [];
  // It does not say which. A version is given once, so it tells who wrote.
  const keys = tries.map(({ one }) => one.key);
  const byKey = await documentsOf(db, keys);
  return tries.filter((one) => wasWritten(one, byKey.get(one.one.key)));
}

function wasWritten({ document, next }: Try, now: RecordDocument | undefined): boolean {
  const version = next?.version as number;
  if (now?.version === version || now?.past?.includes(version)) return true;
  if (now !== undefined && isBefore(document as RecordDocument, now)) return false;
  const message = "others changed the same record too often to tell whether it was written";
  throw new StoreUnavailableError(message, { mayHaveHappened: true });
}

/** What was seen is what is there, or came right before something that is not ours. */
function isBefore(seen: RecordDocument, now: RecordDocument): boolean {
  return now.version === seen.version || (now.past?.includes(seen.version) ?? false);
}

/** As it was seen: whoever changed it since gave it another version. */
function seenOf({ document }: Try): { readonly _id: string; readonly version: number } {
  const { _id, version } = document as RecordDocument;
  return { _id, version };
}

function nextOf(
  { key, value, ttlMs }: Swap,
  how: {
    readonly document: RecordDocument | null;
    readonly version: number;
    readonly now: number;
  },
): RecordDocument | null {
  const { document, version, now } = how;
  if (value === null) return null;
  const expiresAt = ttlMs === null ? null : instantAfter(now, ttlMs);
  const past = document && [...(document.past ?? []), document.version].slice(-PAST_VERSIONS);
  return {
    ...{ _id: sortable(key), version, value },
    ...(expiresAt !== null && { expiresAt }),
    ...(past !== null && { past }),
  };
}

/** The cursor is the last key of the page before. */
export async function scan(
  db: Database,
  request: { readonly prefix: string; readonly limit: number; readonly cursor?: string | null },
): Promise<{ readonly records: readonly StoredRecord[]; readonly nextCursor: string | null }> {
  const { prefix, limit, cursor = null } = request;
  if (cursor !== null && !cursor.startsWith(prefix)) {
    throw new InvalidCursorError(
      "this cursor is not from a scan of this prefix: start without one",
    );
  }
  if (limit <= 0) return { records: [], nextCursor: null };
  const now = await db.now();
  const start = cursor === null ? { $gte: sortable(prefix) } : { $gt: sortable(cursor) };
  const isAlive = { $or: [{ expiresAt: { $exists: false } }, { expiresAt: { $gt: now } }] };
  const found = await db.find<RecordDocument>(
    "records",
    { _id: start, ...isAlive },
    {
      sort: { _id: 1 },
      limit: limit + 1,
    },
  );
  const all = found.flatMap((document) => shownOf(document, now) ?? []);
  const records = all.filter(({ key }) => key.startsWith(prefix));
  const page = records.slice(0, limit);
  return { records: page, nextCursor: records.length > limit ? (page.at(-1)?.key ?? null) : null };
}

async function documentsOf(
  db: Database,
  keys: readonly string[],
): Promise<Map<string, RecordDocument>> {
  const found = await db.find<RecordDocument>("records", { _id: { $in: keys.map(sortable) } });
  return new Map(found.map((document) => [fromSortable(document._id), document]));
}

/** An expired record is absent, swept or not. */
function shownOf(document: RecordDocument | null | undefined, now: number): StoredRecord | null {
  if (document == null) return null;
  const { _id, version, value, expiresAt = null } = document;
  if (expiresAt !== null && expiresAt <= now) return null;
  return { key: fromSortable(_id), version, value, expiresAt };
}
