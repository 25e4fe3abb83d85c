/**
 * A spool by its file name. SQLite is loaded when the spool is first looked at, so that nobody who
 * has none loads it, and the engine itself knows no database.
 */
import type { Records } from "./core/records.ts";
import type { Store } from "./core/store.ts";
import type { SpoolStore } from "./engine/produce/spool.ts";

export function spoolFile(file: string): SpoolStore {
  let store: Store | null = null;
  const records = (): Records => {
    if (store === null) throw new Error("the spool is not open");
    return store.records;
  };
  return {
    async open() {
      const { sqliteStore } = await import("./stores/sqlite/index.ts");
      store ??= sqliteStore({ file });
      await store.open();
    },
    async close() {
      await store?.close();
    },
    records: {
      read: (keys) => records().read(keys),
      swap: (swaps) => records().swap(swaps),
      scan: (request) => records().scan(request),
    },
  };
}
