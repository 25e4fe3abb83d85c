/**
 * What a scenario is, and how one is run: a fresh place, an open store on it, and everything put
 * away afterwards, also when the scenario fails.
 */
import type { Store } from "../../core/store.ts";

/** A fresh, empty place for jobs. */
export interface StorePlace {
  /** A Store object on this place. Called several times: several Store objects on the same data. */
  open(): Promise<Store>;
  /** Moves the store's clock on by this much; where it cannot be moved, waits that long. */
  advance(ms: number): Promise<void>;
  /** Moves the host's clock back, where a test can do that. The store's own must not follow. */
  rewind?(ms: number): Promise<void>;
  /** A caller's own transaction in the store's database, where there are any. */
  transaction?(): Promise<CallersTransaction>;
  dispose(): Promise<void>;
}

export interface CallersTransaction {
  readonly tx: unknown;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

export interface Given {
  readonly store: Store;
  readonly place: StorePlace;
  /** Another Store object on the same data; the same one again where a place has only one. */
  another(): Promise<Store>;
  readonly declared: Declared;
}

/** What the caller of the suite says its store has, and so wants proved. */
export interface Declared {
  /** The store has `within`, and its places have `transaction`. */
  readonly transactions: boolean;
  /** The places have `rewind`. */
  readonly rewinds: boolean;
}

export type Scenario = (given: Given) => Promise<void>;

export interface Chapter {
  readonly title: string;
  /** By name. A name is a claim in the present tense, and unique in the whole suite. */
  readonly scenarios: Readonly<Record<string, Scenario>>;
}

export function chapter(title: string, scenarios: Record<string, Scenario>): Chapter {
  return { title, scenarios };
}

export async function play(
  scenario: Scenario,
  place: StorePlace,
  declared: Declared,
): Promise<void> {
  const stores = new Set<Store>();
  const another = async (): Promise<Store> => {
    const store = await place.open();
    stores.add(store);
    await store.open();
    return store;
  };
  try {
    await scenario({ store: await another(), place, another, declared });
  } finally {
    for (const store of stores) await store.close();
    await place.dispose();
  }
}
