/** Links to the store on which a reply comes late, or its process dies before it. */
import type { Store } from "../../packages/holdfast/src/index.ts";
import { signal } from "./world.ts";

/** The next reply about a record is held back, as a busy network would. */
export function late(key: string) {
  const [asked, released] = [signal(), signal()];
  let isHeld = false;
  const link = (store: Store): Store => {
    const { records } = store;
    return {
      ...store,
      records: {
        swap: (swaps) => records.swap(swaps),
        scan: (request) => records.scan(request),
        async read(keys) {
          const found = await records.read(keys);
          if (!isHeld || !keys.includes(key)) return found;
          isHeld = false;
          asked.reach();
          await released.reached;
          return found;
        },
      },
    };
  };
  return {
    link,
    /** The next reply. */
    hold() {
      isHeld = true;
    },
    asked: asked.reached,
    release: () => released.reach(),
  };
}

/** A link on which a process dies as soon as it has written a record that is meant. */
export function dyingAfter(
  isMeant: (swap: { readonly key: string; readonly value: string | null }) => boolean,
  die: () => void,
) {
  return (store: Store): Store => {
    const { records } = store;
    return {
      ...store,
      records: {
        read: (keys) => records.read(keys),
        scan: (request) => records.scan(request),
        async swap(swaps) {
          const results = await records.swap(swaps);
          if (swaps.some(isMeant)) die();
          return results;
        },
      },
    };
  };
}
