/** The ledger: by time, and among entries of one instant the last appended first. */
import { InvalidCursorError } from "../../core/errors.ts";
import type {
  Amendment,
  LedgerEntry,
  LedgerFilter,
  LedgerPage,
  StoredEntry,
} from "../../core/ledger.ts";
import { present, type Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import type { EntryDocument } from "./schema.ts";

const LOOK_AT_MOST = 5_000;
const NEWEST_FIRST = { at: -1, seq: -1 };

export function entryDocument(
  { id, kind, jobId, type, queue, group, category, state, body, at }: LedgerEntry,
  { seq, now }: { readonly seq: number; readonly now: number },
): EntryDocument {
  const named = { kind, jobId, type, queue, group, category, state, body };
  return { _id: id, ...named, at: at ?? now, seq, amendedAt: null };
}

export async function append(
  db: Database,
  entries: readonly LedgerEntry[],
): Promise<("added" | "duplicate")[]> {
  const { first, now } = await db.reserve(entries.length);
  const documents = entries.map((entry, index) =>
    entryDocument(entry, { seq: first + index, now }),
  );
  const duplicates = await db.insert("ledger", documents.map(present));
  return entries.map((_, index) => (duplicates.has(index) ? "duplicate" : "added"));
}

export async function read(
  db: Database,
  filter: LedgerFilter,
  page: { readonly limit: number; readonly cursor?: string | null },
): Promise<LedgerPage> {
  const mark = page.cursor == null ? null : markOf(page.cursor);
  const { limit } = page;
  if (limit <= 0) return { entries: [], nextCursor: null };
  const behind = mark === null ? [] : [beyond(mark, "$lt")];
  const ranged = { $and: [indexedPart(filter), ...behind] };
  // Where the window ends is asked first, so that nothing can slip between the two looks.
  const [last] = await db.find<Mark>("ledger", ranged, {
    sort: NEWEST_FIRST,
    skip: LOOK_AT_MOST - 1,
    limit: 1,
    projection: { at: 1, seq: 1 },
  });
  const window = last === undefined ? [] : [{ $or: [beyond(last, "$gt"), sameAs(last)] }];
  const wanted = { $and: [ranged, ...window, ...restOf(filter)] };
  const found = await db.find<EntryDocument>("ledger", wanted, {
    sort: NEWEST_FIRST,
    limit: limit + 1,
  });
  const shown = found.slice(0, limit);
  const next = found.length > limit ? shown.at(-1) : last;
  return {
    entries: shown.map(entryOf),
    nextCursor: next === undefined ? null : cursorOf(next),
  };
}

export async function amend(
  db: Database,
  amendments: readonly Amendment[],
): Promise<("amended" | "missing")[]> {
  const now = await db.now();
  const results: ("amended" | "missing")[] = [];
  for (const { id, state, body } of amendments) {
    const given = {
      ...(state === undefined ? {} : { state }),
      ...(body === undefined ? {} : { body }),
    };
    const update = { $set: { ...given, amendedAt: now } };
    const options = { projection: { _id: 1 } };
    const found = await db.findOneAndUpdate("ledger", { _id: id }, update, options);
    results.push(found === null ? "missing" : "amended");
  }
  return results;
}

/** Oldest first. */
export async function trim(
  db: Database,
  request: { readonly kind: string; readonly olderThanMs: number; readonly limit: number },
): Promise<number> {
  const { kind, olderThanMs, limit } = request;
  if (limit <= 0) return 0;
  const now = await db.now();
  const old = { kind, at: { $lte: now - olderThanMs } };
  const found = await db.find<{ _id: string }>("ledger", old, {
    sort: { at: 1, seq: 1 },
    limit,
    projection: { _id: 1 },
  });
  if (found.length === 0) return 0;
  return db.deleteMany("ledger", { _id: { $in: found.map(({ _id }) => _id) } });
}

/** The conditions that an index answers in the order of reading. */
function indexedPart({ ids, jobId, kind, type }: LedgerFilter): Document {
  if (ids !== undefined) return { _id: { $in: ids } };
  if (jobId !== undefined) return { jobId };
  if (kind !== undefined) return { kind };
  return type === undefined ? {} : { type };
}

function restOf({ ids: _, from, to, ...equal }: LedgerFilter): Document[] {
  const conditions: Document[] = Object.entries(equal)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ [name]: value }));
  if (from !== undefined) conditions.push({ at: { $gte: from } });
  if (to !== undefined) conditions.push({ at: { $lt: to } });
  return conditions;
}

/** What is null was not stored. */
function entryOf({ _id, seq: _, ...entry }: EntryDocument): StoredEntry {
  const { kind, jobId, type, queue, group, category, state, body, at, amendedAt } = entry;
  return {
    id: _id,
    kind,
    jobId: orNull(jobId),
    type: orNull(type),
    queue: orNull(queue),
    group: orNull(group),
    category: orNull(category),
    state,
    body,
    at,
    amendedAt: orNull(amendedAt),
  };
}

function orNull<T>(value: T | null | undefined): T | null {
  return value ?? null;
}

/** The place of an entry in the reading order. */
interface Mark {
  readonly at: number;
  readonly seq: number;
}

function beyond({ at, seq }: Mark, side: "$lt" | "$gt"): Document {
  return { $or: [{ at: { [side]: at } }, { at, seq: { [side]: seq } }] };
}

function sameAs({ at, seq }: Mark): Document {
  return { at, seq };
}

function cursorOf({ at, seq }: Mark): string {
  return `e:${at}:${seq}`;
}

function markOf(cursor: string): Mark {
  const [, at, seq] = /^e:(-?[0-9.e+]+):([0-9]+)$/.exec(cursor) ?? [];
  const mark = { at: Number(at), seq: Number(seq) };
  if (cursor === cursorOf(mark) && Number.isFinite(mark.at)) return mark;
  throw new InvalidCursorError("this cursor is not from a ledger page: start again without one");
}
