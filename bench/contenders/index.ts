/**
 * Who takes part, by store: a raw loop, the peers, and Holdfast. The modules of a store are loaded
 * only when it is measured, so that nobody's process carries other stores' drivers.
 */
import type { Contender } from "../contender.ts";

const STORES = {
  sqlite: async () => (await import("./sqlite/index.ts")).CONTENDERS,
  postgres: async () => (await import("./postgres/index.ts")).CONTENDERS,
  redis: async () => (await import("./redis/index.ts")).CONTENDERS,
  mongodb: async () => (await import("./mongodb/index.ts")).CONTENDERS,
} as const satisfies Record<string, () => Promise<readonly Contender[]>>;

export type StoreName = keyof typeof STORES;

export const STORE_NAMES = Object.keys(STORES) as readonly StoreName[];

export function isStoreName(name: string): name is StoreName {
  return Object.hasOwn(STORES, name);
}

export function contendersOf(store: StoreName): Promise<readonly Contender[]> {
  return STORES[store]();
}

export async function contenderNamed(store: StoreName, name: string): Promise<Contender> {
  const found = (await contendersOf(store)).find((contender) => contender.name === name);
  if (!found) throw new Error(`there is no contender "${name}" on ${store}`);
  return found;
}
