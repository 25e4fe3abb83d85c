/** The rows of a batch, as statements take them: no key twice in one, and all with the same fields. */
import type { RowKey, TargetRow } from "./target.ts";

/**
 * One statement cannot write a key twice: first all first rows of a key, then the second ones, and so on. For each
 * key that is the order of the sheet, so that a row which the target refuses is the same wherever a batch ends.
 */
export function roundsOf(rows: readonly TargetRow[]): readonly (readonly TargetRow[])[] {
  const seen = new Map<string, number>();
  const rounds: TargetRow[][] = [];
  for (const one of rows) {
    const text = keyText(one.key);
    const at = seen.get(text) ?? 0;
    seen.set(text, at + 1);
    const round = rounds[at];
    if (round) round.push(one);
    else rounds.push([one]);
  }
  return rounds;
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
