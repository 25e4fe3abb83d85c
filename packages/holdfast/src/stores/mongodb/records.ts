/**
 * Records: compare and set, each by one write that names the version it expects. Versions come from the
 * numbers that nobody else gets, so they grow across deletion with nothing to remember of the deleted.
 */
import { InvalidCursorError, StoreUnavailableError } from "../../core/errors.ts";
import type { StoredRecord, Swap, SwapResult } from "../../core/records.ts";
import { fromSortable, sortable } from "../../core/sortable-key.ts";
import { instantAfter } from "./clock.ts";
import type { Database } from "./database.ts";
import { present } from "./database.ts";

interface RecordDocument {
  /** The key, so that the server sorts it as JavaScript does. */
  readonly _id: string;
  readonly version: number;
  readonly value: string;
  readonly expiresAt?: number;
}

const MOST_ROUNDS = 100;

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
    const tries = next.map(async (one, index) => {
      const document = byKey.get(one.key) ?? null;
      const result = await swapOne(db, one, { document, version: first + index, now });
      if (result !== null) results.set(one, result);
    });
    await Promise.all(tries);
  }
  return swaps.map((one) => results.get(one) as SwapResult);
}

/** Null: somebody else was quicker, so it must be looked at again. */
async function swapOne(
  db: Database,
  { key, expect, value, ttlMs }: Swap,
  how: {
    readonly document: RecordDocument | null;
    readonly version: number;
    readonly now: number;
  },
): Promise<SwapResult | null> {
  const { document, version, now } = how;
  const current = shownOf(document, now);
  if ((current?.version ?? null) !== expect) return { swapped: false, current };
  const _id = sortable(key);
  if (value === null) {
    if (document === null) return { swapped: true, version: null };
    const isDone = await db.deleteOne("records", { _id, version: document.version });
    return isDone ? { swapped: true, version: null } : null;
  }
  const expiresAt = ttlMs === null ? null : instantAfter(now, ttlMs);
  const next = present({ _id, version, value, expiresAt });
  if (document === null) {
    const taken = await db.insert("records", [next]);
    return taken.size === 0 ? { swapped: true, version } : null;
  }
  const filter = { _id, version: document.version };
  const replaced = await db.bulk("records", [{ replaceOne: { filter, replacement: next } }]);
  return replaced === 1 ? { swapped: true, version } : null;
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
