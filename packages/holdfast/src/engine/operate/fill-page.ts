/**
 * A store does a bounded step per call, so a page of something rare may come back short, or empty, with a
 * cursor. A person who looks for sixty jobs among a million should not have to turn empty pages: steps are
 * repeated until the page is full, or for a moment.
 */
import { InvalidCursorError } from "../../core/errors.ts";
import type { Runtime } from "../runtime.ts";

const PATIENCE_MS = 200;

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

export async function fillPage<Item>(
  { limit, cursor, runtime }: { limit: number; cursor: string | null; runtime: Runtime },
  step: (page: { readonly limit: number; readonly cursor: string | null }) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  checkCursor(cursor);
  const until = runtime.monotonic() + PATIENCE_MS;
  const items: Item[] = [];
  let next = cursor;
  do {
    const page = await step({ limit: limit - items.length, cursor: next });
    items.push(...page.items);
    next = page.nextCursor;
  } while (next !== null && items.length < limit && runtime.monotonic() < until);
  return { items, nextCursor: next };
}

/** What it says is for the store that made it. */
export function checkCursor(cursor: unknown): void {
  if (cursor === null || typeof cursor === "string") return;
  throw new InvalidCursorError("a cursor is the nextCursor of the page before, or null");
}
