/** Takes one of each queue in turn, keeping the order within a queue: what waits in a buffer is fair too. */
export function interleave<Item extends { readonly queue: string }>(
  items: readonly Item[],
): readonly Item[] {
  const byQueue = Map.groupBy(items, ({ queue }) => queue);
  if (byQueue.size < 2) return items;
  const rows = [...byQueue.values()];
  const longest = Math.max(...rows.map(({ length }) => length));
  const mixed: Item[] = [];
  for (let at = 0; at < longest; at += 1) {
    for (const row of rows) if (at < row.length) mixed.push(row[at]!);
  }
  return mixed;
}
