import { InvalidCursorError } from "../../core/errors.ts";
import type {
  Amendment,
  LedgerEntry,
  LedgerFilter,
  LedgerPage,
  StoredEntry,
  TrimRequest,
} from "../../core/ledger.ts";
import type { Row, Value } from "./database.ts";
import type { FreeAsker } from "./find.ts";
import { isTrue, number, numberOrNull, text, textOrNull } from "./row-values.ts";
import type { Transaction } from "./transaction.ts";

/** Behind every entry of its instant. */
const LAST = Number.MAX_SAFE_INTEGER;
/** A filter that matches nothing must not walk a million entries in one call. */
const LOOK_AT_MOST = 20_000;

const ADD = `
  INSERT INTO holdfast.ledger
    (id, kind, job_id, type, queue, grp, category, state, at, body, fingerprint, company, is_final)
  SELECT u.id, u.kind, u.job_id, u.type, u.queue, u.grp, u.category, u.state, u.at, u.body,
    u.fingerprint, u.company, u.is_final
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
      $8::text[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::boolean[])
    WITH ORDINALITY AS u (id, kind, job_id, type, queue, grp, category, state, at, body, fingerprint,
      company, is_final, ord)
  ORDER BY u.ord
  ON CONFLICT (id) DO NOTHING RETURNING id`;
const AMEND = `
  UPDATE holdfast.ledger l
  SET state = coalesce(u.state, l.state), body = coalesce(u.body, l.body), amended_at = $4
  FROM unnest($1::text[], $2::text[], $3::text[]) AS u (id, state, body)
  WHERE l.id = u.id RETURNING l.id`;
/** The last entry of a kind that is more than is kept: itself and all before it go. */
const FIRST_TOO_MANY = `
  SELECT at, n FROM holdfast.ledger WHERE kind = $1
  ORDER BY kind DESC, at DESC, n DESC LIMIT 1 OFFSET $2`;
const TRIM = `
  DELETE FROM holdfast.ledger WHERE n = ANY (ARRAY(
    SELECT n FROM holdfast.ledger WHERE kind = $1 AND (at, n) <= ($2::bigint, $3::bigint)
    ORDER BY kind, at, n LIMIT $4 FOR UPDATE SKIP LOCKED)) RETURNING 1`;
/** By id, which is the order of locks. */
const REMOVE = `
  DELETE FROM holdfast.ledger WHERE n = ANY (ARRAY(
    SELECT n FROM holdfast.ledger WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE)) RETURNING 1`;
const COLUMNS = `n, id, kind, job_id, type, queue, grp, category, state, body, at, amended_at,
  fingerprint, company, is_final`;
const NEWEST_FIRST = "ORDER BY at DESC, n DESC";

export async function append(
  tx: Transaction,
  entries: readonly LedgerEntry[],
): Promise<("added" | "duplicate")[]> {
  if (entries.length === 0) return [];
  const column = (of: (entry: LedgerEntry) => string | number | boolean | null): Value =>
    entries.map(of);
  const rows = await tx.rows(ADD, [
    column(({ id }) => id),
    column(({ kind }) => kind),
    column(({ jobId }) => jobId),
    column(({ type }) => type),
    column(({ queue }) => queue),
    column(({ group }) => group),
    column(({ category }) => category),
    column(({ state }) => state),
    column(({ at }) => Math.floor(at ?? tx.now)),
    column(({ body }) => body),
    column(({ fingerprint = null }) => fingerprint),
    column(({ company = null }) => company),
    column(({ isFinal = null }) => isFinal),
  ]);
  const added = new Set(rows.map((row) => text(row, 0)));
  // The second of an id in one call is a duplicate of the first.
  return entries.map(({ id }) => (added.delete(id) ? "added" : "duplicate"));
}

/**
 * Newest first: by time, and among entries of one instant the last appended first. Walks one of
 * the indexes backwards. What the index does not decide is looked for in a window of it only, so
 * a filter that matches nothing costs one window and answers a cursor.
 */
export async function read(
  db: FreeAsker,
  filter: LedgerFilter,
  page: { readonly limit: number; readonly cursor?: string | null },
): Promise<LedgerPage> {
  const { limit, cursor = null } = page;
  const mark = cursor === null ? null : markOf(cursor);
  if (limit <= 0) return { entries: [], nextCursor: null };
  const values: Value[] = [];
  const { range, rest } = conditionsOf(filter, mark, (value) => `$${values.push(value)}`);
  const size = rest.length === 0 ? limit + 1 : LOOK_AT_MOST;
  const rows = await db.rowsOnce(
    `WITH looked AS MATERIALIZED (
       SELECT ${COLUMNS} FROM holdfast.ledger ${whereOf(range)} ${NEWEST_FIRST} LIMIT ${size}),
     ending AS (SELECT at, n FROM looked ORDER BY at, n LIMIT 1)
     (SELECT ${COLUMNS}, NULL::bigint FROM looked ${whereOf(rest)} ${NEWEST_FIRST} LIMIT ${limit + 1})
     UNION ALL
     SELECT n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, at, NULL, NULL, NULL, NULL,
       (SELECT count(*) FROM looked) FROM ending`,
    values,
  );
  // The last row is the end of the window.
  const end = rows.pop();
  if (end === undefined) return { entries: [], nextCursor: null };
  const isWhole = number(end, 15) < size;
  const shown = rows.slice(0, limit);
  const lastShown = rows.length > limit ? shown.at(-1) : undefined;
  const last = lastShown ?? (isWhole ? undefined : end);
  return {
    entries: shown.map(entryOf),
    nextCursor: last === undefined ? null : cursorOf({ at: number(last, 10), n: number(last, 0) }),
  };
}

/** What the index finds by itself (`range`), and what each row must be asked for (`rest`). */
function conditionsOf(
  filter: LedgerFilter,
  mark: Mark | null,
  put: (value: Value) => string,
): { readonly range: string[]; readonly rest: string[] } {
  const { ids, kind, jobId, type, queue, group, category, fingerprint, company, isFinal } = filter;
  const { state, from, to } = filter;
  const range: string[] = [];
  const decided = new Set<string>();
  if (ids !== undefined) range.push(`id = ANY (${put([...ids])}::text[])`);
  else if (jobId !== undefined) {
    range.push(`job_id = ${put(jobId)}`);
    decided.add("job_id");
  } else if (kind !== undefined) {
    range.push(`kind = ${put(kind)}`);
    decided.add("kind");
    const words = Object.entries({ fingerprint, queue, type, category, state });
    const [column, word] = words.find(([, value]) => value !== undefined) ?? [];
    if (column !== undefined && word !== undefined) {
      range.push(`${column} = ${put(word)}`);
      decided.add(column);
    }
  }
  if (from !== undefined) range.push(`at >= ${put(Math.ceil(from))}`);
  if (to !== undefined) range.push(`at < ${put(Math.ceil(to))}`);
  if (mark !== null) range.push(`(at, n) < (${put(mark.at)}::bigint, ${put(mark.n)}::bigint)`);
  const columns = { kind, job_id: jobId, type, queue, grp: group, category, fingerprint, company };
  const rest = Object.entries({ ...columns, is_final: isFinal, state })
    .filter(([column, value]) => value !== undefined && !decided.has(column))
    .map(([column, value]) => `${column} = ${put(value as string | boolean)}`);
  return ids === undefined ? { range, rest } : { range: [...range, ...rest], rest: [] };
}

function whereOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
}

function entryOf(row: Row): StoredEntry {
  return {
    id: text(row, 1),
    kind: text(row, 2),
    jobId: textOrNull(row, 3),
    type: textOrNull(row, 4),
    queue: textOrNull(row, 5),
    group: textOrNull(row, 6),
    category: textOrNull(row, 7),
    fingerprint: textOrNull(row, 12),
    company: textOrNull(row, 13),
    isFinal: row[14] === null ? null : isTrue(row, 14),
    state: text(row, 8),
    body: text(row, 9),
    at: number(row, 10),
    amendedAt: numberOrNull(row, 11),
  };
}

export async function amend(
  tx: Transaction,
  amendments: readonly Amendment[],
): Promise<("amended" | "missing")[]> {
  const results: ("amended" | "missing")[] = amendments.map(() => "missing");
  // By id, which is the order of locks; a second amendment of one entry comes after the first.
  let open = [...amendments.entries()].sort(([, a], [, b]) => compare(a.id, b.id));
  while (open.length > 0) {
    const ids = new Set<string>();
    const now = open.filter(([, { id }]) => !ids.has(id) && ids.add(id));
    const rows = await tx.rows(AMEND, [
      now.map(([, { id }]) => id),
      now.map(([, { state = null }]) => state),
      now.map(([, { body = null }]) => body),
      tx.now,
    ]);
    const amended = new Set(rows.map((row) => text(row, 0)));
    for (const [index, { id }] of now) if (amended.has(id)) results[index] = "amended";
    open = open.filter((item) => !now.includes(item));
  }
  return results;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Counts no further than it is asked to. */
export async function countEntries(
  db: FreeAsker,
  filter: LedgerFilter,
  upTo: number,
): Promise<number> {
  const values: Value[] = [];
  const { range, rest } = conditionsOf(filter, null, (value) => `$${values.push(value)}`);
  const [row] = await db.rowsOnce(
    `SELECT count(*) FROM (SELECT 1 FROM holdfast.ledger ${whereOf([...range, ...rest])}
       LIMIT ${Math.max(0, Math.floor(upTo))}) x`,
    values,
  );
  return row === undefined ? 0 : number(row, 0);
}

/** Oldest first. What is past either bound is past the later of both. */
export async function trim(tx: Transaction, request: TrimRequest): Promise<number> {
  const { kind, olderThanMs, keep, limit } = request;
  if (limit <= 0) return 0;
  const marks: Mark[] = [];
  if (olderThanMs !== null) marks.push({ at: Math.floor(tx.now - olderThanMs), n: LAST });
  if (keep !== null) {
    const [row] = await tx.rows(FIRST_TOO_MANY, [kind, keep]);
    if (row !== undefined) marks.push({ at: number(row, 0), n: number(row, 1) });
  }
  const last = marks.sort((a, b) => a.at - b.at || a.n - b.n).at(-1);
  if (last === undefined) return 0;
  return (await tx.rows(TRIM, [kind, last.at, last.n, limit])).length;
}

export async function removeEntries(tx: Transaction, ids: readonly string[]): Promise<number> {
  return (await tx.rows(REMOVE, [[...ids]])).length;
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
