/** Empty stores by URL, on a file system or a server of this run's own: for scripts that use `connect`. */
import { tmpdir } from "node:os";
import { isStoreName, STORE_NAMES, type StoreName } from "./contenders/index.ts";
import { Places } from "./places.ts";

export interface FreshUrls {
  readonly store: StoreName;
  /** Of a store that nothing has used. */
  next(): Promise<string>;
  close(): Promise<void>;
}

export async function freshUrls(store: string): Promise<FreshUrls> {
  if (!isStoreName(store)) throw new Error(`--store must be one of ${STORE_NAMES.join(", ")}`);
  const places = await Places.open(store, { folder: tmpdir(), appendfsync: "everysec" });
  return {
    store,
    async next() {
      const place = await places.fresh();
      return store === "sqlite" ? `sqlite:${place}` : place;
    },
    close: () => places.close(),
  };
}
