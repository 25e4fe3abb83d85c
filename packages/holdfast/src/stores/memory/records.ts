import { InvalidCursorError } from "../../core/errors.ts";
import type { StoredRecord, Swap, SwapResult } from "../../core/records.ts";
import { instantAfter } from "./clock.ts";
import type { MemoryRecord } from "./record-shelf.ts";
import type { MemoryState } from "./state.ts";

export function readRecords(state: MemoryState, keys: readonly string[]): (StoredRecord | null)[] {
  const now = state.clock.now();
  return keys.map((key) => snapshot(state.records.get(key, now)));
}

/** Compare and set. In order, so a later item of the call sees what an earlier one wrote. */
export function swap(state: MemoryState, swaps: readonly Swap[]): SwapResult[] {
  const now = state.clock.now();
  return swaps.map(({ key, expect, value, ttlMs }): SwapResult => {
    const current = state.records.get(key, now);
    if ((current?.version ?? null) !== expect) {
      return { swapped: false, current: snapshot(current) };
    }
    if (value === null) {
      state.records.delete(key);
      return { swapped: true, version: null };
    }
    const version = state.clock.fenceAfter(state.records.lastVersion);
    state.records.lastVersion = version;
    const expiresAt = ttlMs === null ? null : instantAfter(now, ttlMs);
    state.records.set({ key, version, value, expiresAt });
    return { swapped: true, version };
  });
}

/** The cursor is the last key of the page before. */
export function scan(
  state: MemoryState,
  request: { readonly prefix: string; readonly limit: number; readonly cursor?: string | null },
): { readonly records: readonly StoredRecord[]; readonly nextCursor: string | null } {
  const now = state.clock.now();
  const { prefix, limit, cursor = null } = request;
  if (cursor !== null && !cursor.startsWith(prefix)) {
    throw new InvalidCursorError(
      "this cursor is not from a scan of this prefix: start without one",
    );
  }
  const keys = state.records.sortedKeys();
  const records: StoredRecord[] = [];
  for (let index = firstAfter(keys, { prefix, cursor }); index < keys.length; index++) {
    const key = keys[index] ?? "";
    if (!key.startsWith(prefix)) break;
    const record = snapshot(state.records.get(key, now));
    if (record === null) continue;
    if (records.length >= limit) return { records, nextCursor: records.at(-1)?.key ?? null };
    records.push(record);
  }
  return { records, nextCursor: null };
}

function firstAfter(
  keys: readonly string[],
  { prefix, cursor }: { readonly prefix: string; readonly cursor: string | null },
): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const key = keys[middle] ?? "";
    if (cursor === null ? key < prefix : key <= cursor) low = middle + 1;
    else high = middle;
  }
  return low;
}

function snapshot(record: MemoryRecord | null): StoredRecord | null {
  if (record === null) return null;
  const { key, version, value, expiresAt } = record;
  return { key, version, value, expiresAt };
}
