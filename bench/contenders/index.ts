/** Who takes part, by store. A further store brings its own raw loop, its peers and Holdfast on it. */
import type { Contender } from "../contender.ts";
import { holdfastSqlite } from "./holdfast.ts";
import { plainjob } from "./plainjob.ts";
import { rawSqlite } from "./raw-sqlite.ts";

export const STORES = {
  sqlite: [rawSqlite, plainjob, holdfastSqlite],
} as const satisfies Record<string, readonly Contender[]>;

export type StoreName = keyof typeof STORES;

export function isStoreName(name: string): name is StoreName {
  return Object.hasOwn(STORES, name);
}

export function contenderNamed(store: StoreName, name: string): Contender {
  const found = STORES[store].find((contender) => contender.name === name);
  if (!found) throw new Error(`there is no contender "${name}" on ${store}`);
  return found;
}
