import { InvalidCursorError } from "../../core/errors.ts";
import type { StoredRecord, Swap, SwapResult } from "../../core/records.ts";
import { instantAfter } from "./clock.ts";
import type { Connection } from "./connection.ts";
import type { Transaction } from "./transaction.ts";

const READ = "SELECT version, value, expires_at FROM holdfast_record WHERE key = ?";
const WRITE = `
  INSERT INTO holdfast_record (key, version, expires_at, value) VALUES (?, ?, ?, ?)
  ON CONFLICT (key) DO UPDATE
  SET version = excluded.version, expires_at = excluded.expires_at, value = excluded.value`;
const DELETE = "DELETE FROM holdfast_record WHERE key = ?";
const SCAN_FROM = `
  SELECT key, version, value, expires_at FROM holdfast_record WHERE key >= ? ORDER BY key LIMIT ? + 0`;
const SCAN_AFTER = SCAN_FROM.replace(">=", ">");

/** Expired records that nobody has swept yet are passed by; at most so many rows at a time. */
const SCAN_STEP = 200;

export function readRecords(
  db: Connection,
  keys: readonly string[],
  now: number,
): (StoredRecord | null)[] {
  return keys.map((key) => readOne(db, key, now));
}

/** Compare and set. In order, so a later item of the call sees what an earlier one wrote. */
export function swap(tx: Transaction, swaps: readonly Swap[]): SwapResult[] {
  return swaps.map(({ key, expect, value, ttlMs }): SwapResult => {
    const current = readOne(tx.db, key, tx.now);
    if ((current?.version ?? null) !== expect) return { swapped: false, current };
    if (value === null) {
      tx.db.run(DELETE, sortable(key));
      return { swapped: true, version: null };
    }
    const version = tx.nextRecordVersion();
    const expiresAt = ttlMs === null ? null : instantAfter(tx.now, ttlMs);
    tx.db.run(WRITE, sortable(key), version, expiresAt, value);
    return { swapped: true, version };
  });
}

/** The cursor is the last key of the page before. */
export function scan(
  db: Connection,
  request: { readonly prefix: string; readonly limit: number; readonly cursor?: string | null },
  now: number,
): { readonly records: readonly StoredRecord[]; readonly nextCursor: string | null } {
  const { prefix, limit, cursor = null } = request;
  if (cursor !== null && !cursor.startsWith(prefix)) {
    throw new InvalidCursorError(
      "this cursor is not from a scan of this prefix: start without one",
    );
  }
  const records: StoredRecord[] = [];
  if (limit <= 0) return { records, nextCursor: null };
  const step = Math.min(limit + 1, SCAN_STEP);
  let rows = rowsOf(db, cursor === null ? SCAN_FROM : SCAN_AFTER, { key: cursor ?? prefix, step });
  for (;;) {
    for (const [sortableKey, version, value, expiresAt] of rows) {
      const key = fromSortable(sortableKey);
      if (!key.startsWith(prefix)) return { records, nextCursor: null };
      if (expiresAt !== null && expiresAt <= now) continue;
      if (records.length >= limit) return { records, nextCursor: records.at(-1)?.key ?? null };
      records.push({ key, version, value, expiresAt });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < step) return { records, nextCursor: null };
    rows = rowsOf(db, SCAN_AFTER, { key: fromSortable(last[0]), step });
  }
}

type RecordRow = [key: string, version: number, value: string, expiresAt: number | null];

function rowsOf(
  db: Connection,
  sql: string,
  { key, step }: { readonly key: string; readonly step: number },
): RecordRow[] {
  return db.rows<RecordRow>(sql).all(sortable(key), step);
}

/** An expired record is absent, swept or not. */
function readOne(db: Connection, key: string, now: number): StoredRecord | null {
  const row = db.rows<[number, string, number | null]>(READ).get(sortable(key));
  if (row === undefined) return null;
  const [version, value, expiresAt] = row;
  return expiresAt === null || expiresAt > now ? { key, version, value, expiresAt } : null;
}

/**
 * Keys are listed by UTF-16 code unit, as JavaScript compares strings; SQLite compares UTF-8, which
 * sorts U+E000 to U+FFFF before the characters beyond U+FFFF instead of after them. So those are
 * stored behind a mark that sorts last. Keys without them, nearly all, are stored as they are.
 */
const MARK = "\u{10FFFF}";

function sortable(key: string): string {
  return key.replace(/[\uE000-\uFFFF]|\u{10FFFF}/gu, (character) =>
    character === MARK ? `${MARK}\u0001` : MARK + character,
  );
}

function fromSortable(stored: string): string {
  return stored.replace(/\u{10FFFF}(.)/gu, (_, character: string) =>
    character === "\u0001" ? MARK : character,
  );
}
