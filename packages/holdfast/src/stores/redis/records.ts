import { InvalidCursorError } from "../../core/errors.ts";
import type { StoredRecord, Swap, SwapResult } from "../../core/records.ts";
import { fromSortable, sortable } from "../../core/sortable-key.ts";
import { optional, orEmpty } from "./args.ts";
import type { Reply } from "./client-like.ts";
import { bytes, list, number, numberOrNull, rows, text } from "./reply.ts";
import type { Server } from "./server.ts";

export async function readRecords(
  server: Server,
  keys: readonly string[],
): Promise<(StoredRecord | null)[]> {
  const reply = await server.onRoot("records-read", server.keys.home, keys.map(sortable));
  return list(reply).map((record, index) => recordOf(keys[index] ?? "", record));
}

/** Compare and set. In order, so a later item of the call sees what an earlier one wrote. */
export async function swap(server: Server, swaps: readonly Swap[]): Promise<SwapResult[]> {
  const args = swaps.flatMap(({ key, expect, value, ttlMs }) => [
    ...[sortable(key), orEmpty(expect), ...optional(value), orEmpty(ttlMs)],
  ]);
  const reply = list(await server.onRoot("records-swap", server.keys.home, args));
  return rows(reply, 2).map(([swapped, rest], index): SwapResult => {
    if (number(swapped) === 1) return { swapped: true, version: numberOrNull(rest) };
    return { swapped: false, current: recordOf(swaps[index]?.key ?? "", rest) };
  });
}

/** The cursor is the last key of the page before. */
export async function scan(
  server: Server,
  request: { readonly prefix: string; readonly limit: number; readonly cursor?: string | null },
): Promise<{ readonly records: readonly StoredRecord[]; readonly nextCursor: string | null }> {
  const { prefix, limit, cursor = null } = request;
  if (cursor !== null && !cursor.startsWith(prefix)) {
    throw new InvalidCursorError(
      "this cursor is not from a scan of this prefix: start without one",
    );
  }
  const from = cursor === null ? `[${sortable(prefix)}` : `(${sortable(cursor)}`;
  const args = [from, sortable(prefix), Math.max(0, limit)];
  const [isMore, ...found] = list(await server.onRoot("records-scan", server.keys.home, args));
  const records = rows(found, 2).flatMap(([key, record]) => {
    const read = recordOf(fromSortable(text(key)), record);
    return read === null ? [] : [read];
  });
  return { records, nextCursor: number(isMore) === 1 ? (records.at(-1)?.key ?? null) : null };
}

/** As lua/record.lua packs it: version, end, value. */
function recordOf(key: string, reply: Reply | undefined): StoredRecord | null {
  if (reply === null || reply === undefined) return null;
  const packed = bytes(reply);
  const expiresAt = packed.readDoubleLE(8);
  return {
    key,
    version: packed.readDoubleLE(0),
    value: packed.toString("utf8", 16),
    expiresAt: expiresAt < 0 ? null : expiresAt,
  };
}
