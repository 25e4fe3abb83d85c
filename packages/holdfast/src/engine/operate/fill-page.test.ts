import { expect, test } from "vitest";
import { VirtualTime } from "../../testing/virtual-time.ts";
import { fillPage, type Page } from "./fill-page.ts";

/** Steps that take 60 ms each and find so many. */
function steps(time: VirtualTime, found: readonly number[]) {
  return async (page: { limit: number; cursor: string | null }): Promise<Page<number>> => {
    await time.advance(60);
    const at = Number(page.cursor ?? 0);
    const items = Array.from({ length: Math.min(found[at] ?? 0, page.limit) }, () => at);
    return { items, nextCursor: at + 1 < found.length ? String(at + 1) : null };
  };
}

function fill(found: readonly number[], limit = 3) {
  const time = new VirtualTime();
  const runtime = time.runtime({ alive: () => true });
  return fillPage({ limit, cursor: null, runtime }, steps(time, found));
}

test("empty steps are passed over until the page is full", async () => {
  expect(await fill([0, 1, 2, 5])).toEqual({ items: [1, 2, 2], nextCursor: "3" });
});

test("the last page ends by itself", async () => {
  expect(await fill([0, 1])).toEqual({ items: [1], nextCursor: null });
});

test("after a while a page is handed on as it is, with its cursor", async () => {
  expect(await fill([0, 0, 0, 0, 0, 0, 9])).toEqual({ items: [], nextCursor: "4" });
});
