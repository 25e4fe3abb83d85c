import { InvalidCursorError } from "../../core/errors.ts";
import type {
  Amendment,
  LedgerEntry,
  LedgerFilter,
  LedgerPage,
  StoredEntry,
} from "../../core/ledger.ts";
import type { Connection } from "./connection.ts";
import type { SqlValue } from "./database-like.ts";
import type { Transaction } from "./transaction.ts";

/** A filter that matches nothing must not walk a million entries in one call. */
const LOOK_AT_MOST = 5_000;

const ADD = `
  INSERT INTO holdfast_ledger
    (id, kind, job_id, type, queue, grp, category, state, at, amended_at, body)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?) ON CONFLICT (id) DO NOTHING`;
const AMEND = `
  UPDATE holdfast_ledger SET state = coalesce(?, state), body = coalesce(?, body), amended_at = ?
  WHERE id = ?`;
const TRIM = `
  DELETE FROM holdfast_ledger WHERE n IN (
    SELECT n FROM holdfast_ledger INDEXED BY holdfast_ledger_kind
    WHERE kind = ? AND at <= ? ORDER BY at, n LIMIT ? + 0)`;
const COLUMNS = `n, id, kind, job_id AS jobId, type, queue, grp AS "group", category, state, body, at,
  amended_at AS amendedAt`;
const NEWEST_FIRST = "ORDER BY at DESC, n DESC";

type EntryRow = StoredEntry & { readonly n: number };

export function append(
  tx: Transaction,
  entries: readonly LedgerEntry[],
): ("added" | "duplicate")[] {
  return entries.map((entry) => {
    const { id, kind, jobId, type, queue, group, category, state, body } = entry;
    const names = [id, kind, jobId, type, queue, group, category, state];
    const added = tx.db.run(ADD, ...names, entry.at ?? tx.now, body);
    return added === 1 ? "added" : "duplicate";
  });
}

/**
 * Newest first: by time, and among entries of one instant the last appended first. Walks one of
 * three indexes backwards. What the index does not decide is looked for in a window of it only, so
 * a filter that matches nothing costs one window and answers a cursor.
 */
export function read(
  db: Connection,
  filter: LedgerFilter,
  page: { readonly limit: number; readonly cursor?: string | null },
): LedgerPage {
  const { limit, cursor = null } = page;
  const mark = cursor === null ? null : markOf(cursor);
  if (limit <= 0) return { entries: [], nextCursor: null };
  const { index, range, rest } = conditionsOf(filter, mark);
  const end = rest.length === 0 ? undefined : windowEnd(db, index, range);
  const all = [...range, ...rest, ...(end === undefined ? [] : [beforeOrAt(end)])];
  const rows = db
    .objects<EntryRow>(
      `SELECT ${COLUMNS} FROM holdfast_ledger ${index} ${whereOf(all)} ${NEWEST_FIRST} LIMIT ? + 0`,
    )
    .all(...all.flatMap((condition) => condition.values), limit + 1);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : end;
  return {
    entries: shown.map(({ n: _, ...entry }) => entry),
    nextCursor: last === undefined ? null : cursorOf(last),
  };
}

interface Condition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** What the index finds by itself (`range`), and what each row must be asked for (`rest`). */
function conditionsOf(
  filter: LedgerFilter,
  mark: Mark | null,
): { readonly index: string; readonly range: Condition[]; readonly rest: Condition[] } {
  const { ids, kind, jobId, type, queue, group, category, state, from, to } = filter;
  const range: Condition[] = [];
  if (ids !== undefined) {
    const list = JSON.stringify(ids);
    range.push({ sql: "id IN (SELECT value FROM json_each(?))", values: [list] });
  } else if (jobId !== undefined) range.push({ sql: "job_id = ?", values: [jobId] });
  else if (kind !== undefined) range.push({ sql: "kind = ?", values: [kind] });
  if (from !== undefined) range.push({ sql: "at >= ?", values: [from] });
  if (to !== undefined) range.push({ sql: "at < ?", values: [to] });
  if (mark !== null) range.push({ sql: "(at, n) < (?, ?)", values: [mark.at, mark.n] });
  const rest = Object.entries({ kind, job_id: jobId, type, queue, grp: group, category, state })
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => ({ sql: `${column} = ?`, values: [value as string] }))
    .filter(({ sql }) => !range.some((condition) => condition.sql === sql));
  if (ids !== undefined) return { index: "", range: [...range, ...rest], rest: [] };
  const by = jobId !== undefined ? "job" : kind !== undefined ? "kind" : "at";
  return { index: `INDEXED BY holdfast_ledger_${by}`, range, rest };
}

/** The last entry of the window; undefined if fewer are left. */
function windowEnd(db: Connection, index: string, range: readonly Condition[]): Mark | undefined {
  return db
    .objects<Mark>(
      `SELECT at, n FROM holdfast_ledger ${index} ${whereOf(range)} ${NEWEST_FIRST}
       LIMIT 1 OFFSET ${LOOK_AT_MOST - 1}`,
    )
    .get(...range.flatMap((condition) => condition.values));
}

function beforeOrAt({ at, n }: Mark): Condition {
  return { sql: "(at, n) >= (?, ?)", values: [at, n] };
}

function whereOf(conditions: readonly Condition[]): string {
  return conditions.length === 0 ? "" : `WHERE ${conditions.map(({ sql }) => sql).join(" AND ")}`;
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
export function trim(
  tx: Transaction,
  request: { readonly kind: string; readonly olderThanMs: number; readonly limit: number },
): number {
  const { kind, olderThanMs, limit } = request;
  return limit <= 0 ? 0 : tx.db.run(TRIM, kind, Math.floor(tx.now - olderThanMs), limit);
}

/** The place of an entry in the reading order. */
interface Mark {
  readonly at: number;
  readonly n: number;
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
