/**
 * A page of what a caller may see and asked for in words that the store cannot look for. It goes on for as long
 * as a page's patience lasts; a short page may still have a cursor.
 */
const PATIENCE_MS = 200;

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

export async function fillList<Item>(
  wanted: { readonly limit: number; readonly cursor: string | null },
  isMeant: ((item: Item) => boolean) | null,
  read: (part: { readonly limit: number; readonly cursor: string | null }) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  if (isMeant === null) return read(wanted);
  const until = Date.now() + PATIENCE_MS;
  const items: Item[] = [];
  let { cursor } = wanted;
  do {
    // Never more than are wanted: a cursor stands behind the last item of its page.
    const page = await read({ limit: wanted.limit - items.length, cursor });
    items.push(...page.items.filter(isMeant));
    cursor = page.nextCursor;
  } while (cursor !== null && items.length < wanted.limit && Date.now() < until);
  return { items, nextCursor: cursor };
}
