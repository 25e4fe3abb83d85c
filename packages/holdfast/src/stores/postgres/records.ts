import { InvalidCursorError } from "../../core/errors.ts";
import type { StoredRecord, Swap, SwapResult } from "../../core/records.ts";
import { fromSortable, sortable } from "../../core/sortable-key.ts";
import { clockMs, msOf, wholeMs, type Clock } from "./clock.ts";
import type { Row } from "./database.ts";
import { CLOCK_US, PINNED } from "./pinned.ts";
import type { Asker } from "./queue-book.ts";
import { isTrue, number, numberOrNull, text, textOrNull } from "./row-values.ts";

/** How long the version of a deleted record is remembered, so that the next one's is higher. */
const REMEMBERS_MS = 3_600_000;

/**
 * Compare and set. Item after item, so a later one sees what an earlier one wrote; by key first, so
 * that two callers with the same keys never wait for each other in a circle.
 */
export const SWAP_FUNCTION = `
CREATE OR REPLACE FUNCTION holdfast.swap(p_seen bigint, p_key text[], p_expect bigint[],
  p_value text[], p_ttl bigint[])
RETURNS TABLE (ord integer, swapped boolean, version bigint, expires_at bigint, value text, us bigint)
LANGUAGE plpgsql
${PINNED}
AS $$
#variable_conflict use_column
DECLARE
  v_us bigint := ${CLOCK_US};
  v_now bigint := v_us / 1000;
  v_item record;
  v_current holdfast.record;
  v_version bigint;
BEGIN
  FOR v_item IN
    SELECT u.key, u.expect, u.value, u.ttl, u.ord::integer AS ord
    FROM unnest(p_key, p_expect, p_value, p_ttl)
      WITH ORDINALITY AS u (key, expect, value, ttl, ord)
    ORDER BY u.key COLLATE "C", u.ord
  LOOP
    LOOP
      SELECT * INTO v_current FROM holdfast.record r WHERE r.key = v_item.key FOR UPDATE;
      v_version := CASE WHEN v_current.value IS NOT NULL
        AND (v_current.expires_at IS NULL OR v_current.expires_at > v_now)
        THEN v_current.version END;
      IF v_version IS DISTINCT FROM v_item.expect THEN
        RETURN QUERY SELECT v_item.ord, false, v_version,
          CASE WHEN v_version IS NOT NULL THEN v_current.expires_at END,
          CASE WHEN v_version IS NOT NULL THEN v_current.value END, v_us;
        EXIT;
      END IF;
      IF v_item.value IS NULL THEN
        -- Where there was nothing to lock, another caller may have written meanwhile: that stays.
        IF v_current.key IS NOT NULL THEN
          UPDATE holdfast.record r SET value = NULL, expires_at = v_now + ${REMEMBERS_MS}
          WHERE r.key = v_item.key;
        END IF;
        RETURN QUERY SELECT v_item.ord, true, NULL::bigint, NULL::bigint, NULL::text, v_us;
        EXIT;
      END IF;
      v_version := greatest(v_us, v_current.version + 1);
      -- Between the look and this another caller may have written the first of this key.
      IF v_current.key IS NULL THEN
        INSERT INTO holdfast.record (key, version, expires_at, value)
        VALUES (v_item.key, v_version, v_now + v_item.ttl, v_item.value)
        ON CONFLICT (key) DO NOTHING;
        CONTINUE WHEN NOT FOUND;
      ELSE
        UPDATE holdfast.record r
        SET version = v_version, expires_at = v_now + v_item.ttl, value = v_item.value
        WHERE r.key = v_item.key;
      END IF;
      RETURN QUERY SELECT v_item.ord, true, v_version, NULL::bigint, NULL::text, v_us;
      EXIT;
    END LOOP;
  END LOOP;
END $$;
`;

const SWAP = "SELECT * FROM holdfast.swap($1, $2, $3, $4, $5)";
const NOW = clockMs("$1");
const VISIBLE = "value IS NOT NULL AND (expires_at IS NULL OR expires_at > n.at)";
const READ = `
  SELECT key, version, expires_at, value
  FROM (SELECT ${NOW} AS at OFFSET 0) n CROSS JOIN holdfast.record
  WHERE key = ANY ($2) AND ${VISIBLE}`;
/** At most so many rows are looked at: expired ones that nobody has swept yet are passed by. */
const SCAN_AT_MOST = 1_000;
const SCAN = `
  SELECT key, version, expires_at, value, ${VISIBLE}
  FROM (SELECT ${NOW} AS at OFFSET 0) n CROSS JOIN (
    SELECT * FROM holdfast.record WHERE key > $2 AND key < $3 ORDER BY key LIMIT $4) r
  ORDER BY key`;
/** Nothing that begins with a prefix sorts behind the prefix and this. */
const LAST = "\u{10FFFF}".repeat(3);

export async function readRecords(
  db: Asker,
  keys: readonly string[],
  clock: Clock,
): Promise<(StoredRecord | null)[]> {
  const rows = await db.rows(READ, [msOf(clock.seen), keys.map(sortable)]);
  const found = new Map(rows.map((row) => [fromSortable(text(row, 0)), row]));
  return keys.map((key) => {
    const row = found.get(key);
    return row === undefined ? null : recordOf(row);
  });
}

export async function swap(db: Asker, swaps: readonly Swap[], clock: Clock): Promise<SwapResult[]> {
  const rows = await db.rows(SWAP, [
    clock.seen,
    swaps.map(({ key }) => sortable(key)),
    swaps.map(({ expect }) => expect),
    swaps.map(({ value }) => value),
    swaps.map(({ ttlMs }) => (ttlMs === null ? null : wholeMs(ttlMs))),
  ]);
  const results: SwapResult[] = [];
  for (const row of rows) {
    const index = number(row, 0) - 1;
    const version = numberOrNull(row, 2);
    const value = textOrNull(row, 4);
    clock.saw(number(row, 5));
    const key = swaps[index]?.key ?? "";
    const current =
      version === null || value === null
        ? null
        : { key, version, value, expiresAt: numberOrNull(row, 3) };
    results[index] = isTrue(row, 1) ? { swapped: true, version } : { swapped: false, current };
  }
  return results;
}

/** The cursor is the last key of the page before. */
export async function scan(
  db: Asker,
  request: { readonly prefix: string; readonly limit: number; readonly cursor?: string | null },
  clock: Clock,
): Promise<{ readonly records: readonly StoredRecord[]; readonly nextCursor: string | null }> {
  const { prefix, limit, cursor = null } = request;
  if (cursor !== null && !cursor.startsWith(prefix)) {
    throw new InvalidCursorError(
      "this cursor is not from a scan of this prefix: start without one",
    );
  }
  const records: StoredRecord[] = [];
  if (limit <= 0) return { records, nextCursor: null };
  // A key that is the prefix itself belongs to the scan, and nothing sorts between it and `from`.
  if (cursor === null) {
    const [whole] = await readRecords(db, [prefix], clock);
    if (whole !== null && whole !== undefined) records.push(whole);
  }
  let from = cursor ?? prefix;
  for (;;) {
    const size = Math.min(SCAN_AT_MOST, limit - records.length + 1);
    const bounds = [sortable(from), sortable(prefix) + LAST];
    const rows = await db.rows(SCAN, [msOf(clock.seen), ...bounds, size]);
    for (const row of rows) {
      const key = fromSortable(text(row, 0));
      from = key;
      if (!isTrue(row, 4) || !key.startsWith(prefix)) continue;
      if (records.length >= limit) return { records, nextCursor: records.at(-1)?.key ?? null };
      records.push(recordOf(row));
    }
    if (rows.length < size) return { records, nextCursor: null };
  }
}

function recordOf(row: Row): StoredRecord {
  return {
    key: fromSortable(text(row, 0)),
    version: number(row, 1),
    value: text(row, 3),
    expiresAt: numberOrNull(row, 2),
  };
}
