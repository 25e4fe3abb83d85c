/**
 * The rows of a batch, one for each key. Of two with one key the later wins, and what its cells leave out stays as
 * the earlier said: the same as if one had been written after the other.
 */
import type { RowKey, TargetRow } from "./target.ts";

export function onePerKey(rows: readonly TargetRow[]): readonly TargetRow[] {
  const last = new Map<string, TargetRow>();
  for (const one of rows) {
    const text = keyText(one.key);
    const before = last.get(text);
    last.set(text, before ? { ...one, values: { ...before.values, ...present(one.values) } } : one);
  }
  return last.size === rows.length ? rows : [...last.values()];
}

/** Equal for equal keys, whatever the order of their fields is. */
export function keyText(key: RowKey): string {
  const names = Object.keys(key).toSorted();
  return JSON.stringify(
    names.map((name) => {
      const value = key[name];
      return [name, typeof value === "bigint" ? `${value}n` : value];
    }),
  );
}

/** The fields of a row that are written. */
export function present(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const there: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) if (value !== undefined) there[name] = value;
  return there;
}

/** Rows that have the same fields, together: one statement writes them. */
export function byFields(rows: readonly TargetRow[]): ReadonlyMap<string, readonly TargetRow[]> {
  const sets = new Map<string, TargetRow[]>();
  for (const one of rows) {
    const names = Object.keys(present(one.values)).toSorted().join("\u0000");
    const set = sets.get(names);
    if (set) set.push(one);
    else sets.set(names, [one]);
  }
  return sets;
}

export function byRow(one: { readonly row: number }, other: { readonly row: number }): number {
  return one.row - other.row;
}
