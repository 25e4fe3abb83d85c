/**
 * Cuts a call where a name comes again: what becomes of the second item depends on what became of the
 * first, so they cannot be in one statement. Nearly always this is one run.
 */
export function runsOf<T>(items: readonly T[], nameOf: (item: T) => string | number): T[][] {
  const runs: T[][] = [];
  const names = new Set<string | number>();
  for (const item of items) {
    const name = nameOf(item);
    if (names.has(name)) names.clear();
    if (names.size === 0) runs.push([]);
    names.add(name);
    runs.at(-1)?.push(item);
  }
  return runs;
}
