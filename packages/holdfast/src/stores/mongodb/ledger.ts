/** The ledger: by time, and among entries of one instant the last appended first. */
import { InvalidCursorError } from "../../core/errors.ts";
import type {
  Amendment,
  LedgerEntry,
  LedgerFilter,
  LedgerPage,
  StoredEntry,
  TrimRequest,
} from "../../core/ledger.ts";
import { present, type Database } from "./database.ts";
import type { Document } from "./driver-like.ts";
import type { EntryDocument } from "./schema.ts";

const LOOK_AT_MOST = 5_000;
const NEWEST_FIRST = { at: -1, seq: -1 };

export function entryDocument(
  entry: LedgerEntry,
  { seq, now }: { readonly seq: number; readonly now: number },
): EntryDocument {
  const { id, kind, jobId, type, queue, group, category, state, body, at } = entry;
  const { fingerprint = null, company = null, isFinal = null } = entry;
  const named = { kind, jobId, type, queue, group, category, fingerprint, company, isFinal };
  return { _id: id, ...named, state, body, at: at ?? now, seq, amendedAt: null };
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
  const { indexed, rest } = partsOf(filter);
  const ranged = { $and: [indexed, ...behind] };
  // Where the window ends is asked first, so that nothing can slip between the two looks. Where the index
  // decides there is nothing to look for in it.
  const look = { skip: LOOK_AT_MOST - 1, limit: 1, projection: { at: 1, seq: 1 } };
  const [last] =
    rest.length === 0 ? [] : await db.find<Mark>("ledger", ranged, { sort: NEWEST_FIRST, ...look });
  const window = last === undefined ? [] : [{ $or: [beyond(last, "$gt"), sameAs(last)] }];
  const wanted = { $and: [ranged, ...window, ...rest] };
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

export async function countEntries(
  db: Database,
  filter: LedgerFilter,
  upTo: number,
): Promise<number> {
  if (upTo <= 0) return 0;
  const { indexed, rest } = partsOf(filter);
  return db.count("ledger", { $and: [indexed, ...rest] }, upTo);
}

/** Oldest first. */
export async function trim(db: Database, request: TrimRequest): Promise<number> {
  const { kind, olderThanMs, keep, limit } = request;
  if (limit <= 0) return 0;
  const old = olderThanMs === null ? [] : [{ at: { $lte: (await db.now()) - olderThanMs } }];
  const look = { sort: NEWEST_FIRST, limit: 1, projection: { at: 1, seq: 1 } };
  // The first of those that are too many.
  const [next] =
    keep === null ? [] : await db.find<Mark>("ledger", { kind }, { ...look, skip: keep });
  const many = next === undefined ? [] : [beyond(next, "$lt"), sameAs(next)];
  const ways = [...old, ...many];
  if (ways.length === 0) return 0;
  const past = { kind, $or: ways };
  const found = await db.find<{ _id: string }>("ledger", past, {
    sort: { at: 1, seq: 1 },
    hint: "kind",
    limit,
    projection: { _id: 1 },
  });
  if (found.length === 0) return 0;
  return db.deleteMany("ledger", { _id: { $in: found.map(({ _id }) => _id) } });
}

export async function removeEntries(db: Database, ids: readonly string[]): Promise<number> {
  return ids.length === 0 ? 0 : db.deleteMany("ledger", { _id: { $in: [...ids] } });
}

/** Words of which one goes with the kind in an index, those that say most first. */
const WITH_KIND = ["fingerprint", "type", "queue", "category", "state"] as const;

/** What an index answers in the order of reading, and the conditions that are left. */
function partsOf({ ids, from, to, ...equal }: LedgerFilter): {
  readonly indexed: Document;
  readonly rest: readonly Document[];
} {
  const given = Object.entries(equal).filter(([, value]) => value !== undefined);
  const word = WITH_KIND.find((name) => equal[name] !== undefined);
  const isIndexed = (name: string): boolean => {
    if (equal.jobId !== undefined) return name === "jobId";
    return equal.kind !== undefined && (name === "kind" || name === word);
  };
  const at = {
    ...(from === undefined ? {} : { $gte: from }),
    ...(to === undefined ? {} : { $lt: to }),
  };
  const times = from === undefined && to === undefined ? {} : { at };
  const conditions = given.map(([name, value]) => ({ name, condition: { [name]: value } }));
  if (ids !== undefined) {
    return {
      indexed: { _id: { $in: ids }, ...times },
      rest: conditions.map((one) => one.condition),
    };
  }
  const indexed = conditions.filter(({ name }) => isIndexed(name)).map((one) => one.condition);
  // Of one job there are few.
  const rest = conditions.filter(({ name }) => !isIndexed(name)).map((one) => one.condition);
  return { indexed: Object.assign({}, ...indexed, times) as Document, rest };
}

/** What is null was not stored. */
function entryOf({ _id, seq: _, ...entry }: EntryDocument): StoredEntry {
  const { kind, jobId, type, queue, group, category, state, body, at, amendedAt } = entry;
  const { fingerprint, company, isFinal } = entry;
  return {
    id: _id,
    kind,
    jobId: orNull(jobId),
    type: orNull(type),
    queue: orNull(queue),
    group: orNull(group),
    category: orNull(category),
    fingerprint: orNull(fingerprint),
    company: orNull(company),
    isFinal: orNull(isFinal),
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
