import { InvalidCursorError } from "../../core/errors.ts";
import type {
  Amendment,
  LedgerEntry,
  LedgerFilter,
  LedgerPage,
  StoredEntry,
  TrimRequest,
} from "../../core/ledger.ts";
import type { MemoryEntry } from "./ledger-shelf.ts";
import { OrderedList } from "./ordered-list.ts";
import type { MemoryState } from "./state.ts";

const LOOK_AT_MOST = 500_000;

export function append(
  state: MemoryState,
  entries: readonly LedgerEntry[],
): ("added" | "duplicate")[] {
  return state.ledger.append(entries, state.clock.now());
}

/** Newest first: by time, and among entries of one instant the last appended first. */
export function read(
  state: MemoryState,
  filter: LedgerFilter,
  page: { readonly limit: number; readonly cursor?: string | null },
): LedgerPage {
  const { limit, cursor = null } = page;
  const mark = cursor === null ? null : markOf(cursor);
  const order = filter.ids === undefined ? state.ledger.order : onlyThese(state, filter.ids);
  const end =
    mark === null ? order.length : order.firstIndex((entry) => !isBeforeMark(entry, mark));
  const { items, last } = order.scan({
    start: end - 1,
    direction: "down",
    limit,
    lookAtMost: LOOK_AT_MOST,
    wants: (entry) => matches(entry, filter),
  });
  return { entries: items.map(snapshot), nextCursor: last === null ? null : cursorOf(last) };
}

export function amend(
  state: MemoryState,
  amendments: readonly Amendment[],
): ("amended" | "missing")[] {
  const now = state.clock.now();
  return amendments.map(({ id, state: newState, body }) => {
    const entry = state.ledger.byId.get(id);
    if (entry === undefined) return "missing";
    if (newState !== undefined) entry.state = newState;
    if (body !== undefined) entry.body = body;
    entry.amendedAt = now;
    return "amended";
  });
}

export function countEntries(state: MemoryState, filter: LedgerFilter, upTo: number): number {
  const { order } = state.ledger;
  const wants = (entry: MemoryEntry) =>
    matches(entry, filter) && (filter.ids === undefined || filter.ids.includes(entry.id));
  const all = { start: 0, direction: "up", lookAtMost: order.length } as const;
  return order.scan({ ...all, limit: upTo, wants }).items.length;
}

/** Oldest first. */
export function trim(state: MemoryState, request: TrimRequest): number {
  const { kind, olderThanMs, keep, limit } = request;
  const now = state.clock.now();
  const { order } = state.ledger;
  let tooMany = keep === null ? 0 : countEntries(state, { kind }, Infinity) - keep;
  const isTooOld = (entry: MemoryEntry) => olderThanMs !== null && now - entry.at >= olderThanMs;
  const { items } = order.scan({
    start: 0,
    direction: "up",
    limit,
    lookAtMost: order.length,
    wants: (entry) => entry.kind === kind && (tooMany-- > 0 || isTooOld(entry)),
  });
  for (const entry of items) state.ledger.delete(entry);
  return items.length;
}

export function removeEntries(state: MemoryState, ids: readonly string[]): number {
  const found = [...new Set(ids)].flatMap((id) => state.ledger.byId.get(id) ?? []);
  for (const entry of found) state.ledger.delete(entry);
  return found.length;
}

/** A look by ids need not walk the ledger to find them. */
function onlyThese(state: MemoryState, ids: readonly string[]): OrderedList<MemoryEntry> {
  const list = new OrderedList<MemoryEntry>((a, b) => isBeforeMark(a, b));
  for (const id of new Set(ids)) {
    const entry = state.ledger.byId.get(id);
    if (entry !== undefined) list.add(entry);
  }
  return list;
}

function matches(entry: MemoryEntry, filter: LedgerFilter): boolean {
  const { kind, jobId, type, queue, group, category, fingerprint, company, isFinal } = filter;
  const { state, from, to } = filter;
  return (
    (kind === undefined || entry.kind === kind) &&
    (jobId === undefined || entry.jobId === jobId) &&
    (type === undefined || entry.type === type) &&
    (queue === undefined || entry.queue === queue) &&
    (group === undefined || entry.group === group) &&
    (category === undefined || entry.category === category) &&
    (fingerprint === undefined || entry.fingerprint === fingerprint) &&
    (company === undefined || entry.company === company) &&
    (isFinal === undefined || entry.isFinal === isFinal) &&
    (state === undefined || entry.state === state) &&
    (from === undefined || entry.at >= from) &&
    (to === undefined || entry.at < to)
  );
}

function snapshot(entry: MemoryEntry): StoredEntry {
  const { seq: _seq, deleted: _deleted, ...stored } = entry;
  return stored;
}

/** The place of an entry in the reading order. */
interface Mark {
  readonly at: number;
  readonly seq: number;
}

function isBeforeMark(entry: Mark, mark: Mark): boolean {
  return entry.at !== mark.at ? entry.at < mark.at : entry.seq < mark.seq;
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
