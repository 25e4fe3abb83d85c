/** Parallel callers, through three Store objects where a place has several. */
import assert from "node:assert/strict";
import type { Store } from "../../core/store.ts";
import type { Given } from "./scenario.ts";

export async function threeStores({ store, another }: Given): Promise<[Store, Store, Store]> {
  return [store, await another(), await another()];
}

/** So many callers at once, spread over the stores. */
export async function callers<Reply>(
  stores: readonly Store[],
  count: number,
  call: (store: Store, caller: number) => Promise<Reply>,
): Promise<Reply[]> {
  return Promise.all(
    Array.from({ length: count }, (_, caller) => {
      const store = stores[caller % stores.length];
      assert.ok(store);
      return call(store, caller);
    }),
  );
}
