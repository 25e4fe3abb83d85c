/**
 * What the harness needs of a store. A second store is one more file in `stores/` and a row here.
 *
 * Servers that are restarted and proxies that cut connections belong behind `start`: the children
 * see only the URL, and the judge sees only that nobody could write for a while (`canWrite`).
 */
import type { Store } from "../../src/index.ts";

export interface ChaosStore {
  /** Starts what the store needs; its files live in `folder`. */
  start(folder: string): Promise<StartedStore>;
  /** In every process: the store at the URL. */
  open(url: string): Store;
}

export interface StartedStore {
  readonly url: string;
  /** Could anybody write at this moment? Must answer within about 200 ms. */
  canWrite(): Promise<boolean>;
  /** What the store's own check finds wrong; empty if all is well. */
  integrity(): Promise<string[]>;
  stop(): Promise<void>;
}

const STORES = {
  sqlite: async () => (await import("./stores/sqlite.ts")).sqlite,
} satisfies Record<string, () => Promise<ChaosStore>>;

export type ChaosStoreName = keyof typeof STORES;
export const CHAOS_STORES = Object.keys(STORES) as ChaosStoreName[];

export function chaosStore(name: ChaosStoreName): Promise<ChaosStore> {
  return STORES[name]();
}
