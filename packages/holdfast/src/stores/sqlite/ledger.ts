import { InvalidCursorError } from "../../core/errors.ts";
import type {
  Amendment,
  LedgerEntry,
  LedgerFilter,
  LedgerPage,
  StoredEntry,
  TrimRequest,
} from "../../core/ledger.ts";
import type { Connection } from "./connection.ts";
import { countOf, ledgerQuery, valuesOf, whereOf, type LedgerQuery } from "./ledger-query.ts";
import type { Mark } from "./ledger-query.ts";
import type { Transaction } from "./transaction.ts";

/** A filter that matches nothing must not walk a million entries in one call: some ten milliseconds. */
const LOOK_AT_MOST = 10_000;

const ADD = `
  INSERT INTO holdfast_ledger
    (id, kind, job_id, type, queue, grp, category, fingerprint, company, is_final, state, at, body)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
const AMEND = `
  UPDATE holdfast_ledger SET state = coalesce(?, state), body = coalesce(?, body), amended_at = ?
  WHERE id = ?`;
const REMOVE = "DELETE FROM holdfast_ledger WHERE id = ?";
/** The newest of those that are too many. */
const FIRST_TOO_MANY = `
  SELECT at, n FROM holdfast_ledger INDEXED BY holdfast_ledger_kind
  WHERE kind = ? ORDER BY at DESC, n DESC LIMIT 1 OFFSET ? + 0`;
const TRIM = `
  DELETE FROM holdfast_ledger WHERE n IN (
    SELECT n FROM holdfast_ledger INDEXED BY holdfast_ledger_kind
    WHERE kind = ? AND (at, n) <= (?, ?) ORDER BY at, n LIMIT ? + 0)`;
const COLUMNS = `n, id, kind, job_id AS jobId, type, queue, grp AS "group", category, fingerprint,
  company, is_final AS isFinal, state, body, at, amended_at AS amendedAt`;
const NEWEST_FIRST = "ORDER BY at DESC, n DESC";

type EntryRow = Omit<StoredEntry, "isFinal"> & {
  readonly n: number;
  readonly isFinal: number | null;
};

export function append(
  tx: Transaction,
  entries: readonly LedgerEntry[],
): ("added" | "duplicate")[] {
  return entries.map((entry) => {
    const { id, kind, jobId, type, queue, group, category, state, body } = entry;
    const { fingerprint = null, company = null, isFinal = null } = entry;
    const names = [id, kind, jobId, type, queue, group, category, fingerprint, company];
    const final = isFinal === null ? null : Number(isFinal);
    const added = tx.db.run(ADD, ...names, final, state, entry.at ?? tx.now, body);
    return added === 1 ? "added" : "duplicate";
  });
}

/**
 * Newest first: by time, and among entries of one instant the last appended first. Walks one index
 * backwards. What the index does not decide is looked for in a window of it only, so a filter that
 * matches nothing costs one window and answers a cursor.
 */
export function read(
  db: Connection,
  filter: LedgerFilter,
  page: { readonly limit: number; readonly cursor?: string | null },
): LedgerPage {
  const { limit, cursor = null } = page;
  const mark = cursor === null ? null : markOf(cursor);
  if (limit <= 0) return { entries: [], nextCursor: null };
  const query = ledgerQuery(db, filter, mark);
  const { from, range, rest } = query;
  const end = rest.length === 0 ? undefined : windowEnd(db, query);
  const window =
    end === undefined ? [] : [{ sql: "(at, n) >= (?, ?)", values: [end.at, end.n] as const }];
  const all = [...range, ...rest, ...window];
  const rows = db
    .objects<EntryRow>(`SELECT ${COLUMNS} ${from} ${whereOf(all)} ${NEWEST_FIRST} LIMIT ? + 0`)
    .all(...valuesOf(all), limit + 1);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : end;
  return {
    entries: shown.map(({ n: _, isFinal, ...entry }) => ({
      ...entry,
      isFinal: isFinal === null ? null : isFinal === 1,
    })),
    nextCursor: last === undefined ? null : cursorOf(last),
  };
}

/** The last entry of the window; undefined if fewer are left. */
function windowEnd(db: Connection, { from, range }: LedgerQuery): Mark | undefined {
  return db
    .objects<Mark>(
      `SELECT at, n ${from} ${whereOf(range)} ${NEWEST_FIRST} LIMIT 1 OFFSET ${LOOK_AT_MOST - 1}`,
    )
    .get(...valuesOf(range));
}

export function countEntries(db: Connection, filter: LedgerFilter, upTo: number): number {
  return upTo <= 0 ? 0 : countOf(db, ledgerQuery(db, filter), upTo);
}

export function amend(
  tx: Transaction,
  amendments: readonly Amendment[],
): ("amended" | "missing")[] {
  return amendments.map(({ id, state = null, body = null }) =>
    tx.db.run(AMEND, state, body, tx.now, id) === 1 ? "amended" : "missing",
  );
}

/** Oldest first. */
export function trim(tx: Transaction, { kind, olderThanMs, keep, limit }: TrimRequest): number {
  if (limit <= 0) return 0;
  const last: Mark[] = [];
  if (olderThanMs !== null) {
    last.push({ at: Math.floor(tx.now - olderThanMs), n: Number.MAX_SAFE_INTEGER });
  }
  if (keep !== null) {
    const tooMany = tx.db.rows<[number, number]>(FIRST_TOO_MANY).get(kind, keep);
    if (tooMany !== undefined) last.push({ at: tooMany[0], n: tooMany[1] });
  }
  const [first] = last.toSorted((a, b) => b.at - a.at || b.n - a.n);
  return first === undefined ? 0 : tx.db.run(TRIM, kind, first.at, first.n, limit);
}

export function removeEntries(tx: Transaction, ids: readonly string[]): number {
  let removed = 0;
  for (const id of ids) removed += tx.db.run(REMOVE, id);
  return removed;
}

function cursorOf({ at, n }: Mark): string {
  return `e:${at}:${n}`;
}

function markOf(cursor: string): Mark {
  const [, at, n] = /^e:(-?[0-9]+):([0-9]+)$/.exec(cursor) ?? [];
  const mark = { at: Number(at), n: Number(n) };
  if (at !== undefined && cursor === cursorOf(mark)) return mark;
  throw new InvalidCursorError("this cursor is not from a ledger page: start again without one");
}
