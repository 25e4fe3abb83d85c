/**
 * A planted bug: a store or an engine with one promise broken on purpose. The simulator must find
 * each of them, or it proves nothing about the real ones.
 */
import type { Store } from "../../../packages/holdfast/src/core/store.ts";
import { adopt } from "../../../packages/holdfast/src/stores/memory/adopt.ts";
import { count, countDead } from "../../../packages/holdfast/src/stores/memory/count.ts";
import { disown } from "../../../packages/holdfast/src/stores/memory/disown.ts";
import { find, get, place } from "../../../packages/holdfast/src/stores/memory/find.ts";
import { insert } from "../../../packages/holdfast/src/stores/memory/insert.ts";
import { lease } from "../../../packages/holdfast/src/stores/memory/lease.ts";
import {
  amend,
  append,
  countEntries,
  read,
  removeEntries,
  trim,
} from "../../../packages/holdfast/src/stores/memory/ledger.ts";
import { hold, limit, lines } from "../../../packages/holdfast/src/stores/memory/lines.ts";
import { memoryStore } from "../../../packages/holdfast/src/stores/memory/memory-store.ts";
import {
  cancel,
  remove,
  reschedule,
  revive,
} from "../../../packages/holdfast/src/stores/memory/operate.ts";
import { clearOutbox, readOutbox } from "../../../packages/holdfast/src/stores/memory/outbox.ts";
import { prune } from "../../../packages/holdfast/src/stores/memory/prune.ts";
import { reap } from "../../../packages/holdfast/src/stores/memory/reap.ts";
import { readRecords, scan, swap } from "../../../packages/holdfast/src/stores/memory/records.ts";
import { renew } from "../../../packages/holdfast/src/stores/memory/renew.ts";
import { settle } from "../../../packages/holdfast/src/stores/memory/settle.ts";
import { newState, type MemoryState } from "../../../packages/holdfast/src/stores/memory/state.ts";
import type { BackingOptions } from "../backing.ts";
import type { TamperEngine } from "../world.ts";

export interface PlantedBug {
  readonly name: string;
  /** What is wrong, in one sentence. */
  readonly what: string;
  /** In the store. */
  readonly makeStore?: (options: BackingOptions) => Store;
  /** In the engine, on its way to the store. */
  readonly tamperEngine?: TamperEngine;
  /** It shows in a world under control only. */
  readonly isUnderControl?: boolean;
}

/** A bug in the memory store: verbs that are replaced, with the store's own state at hand. */
export function inStore(
  name: string,
  what: string,
  breakIt: (state: MemoryState, store: Store) => Partial<Store>,
): PlantedBug {
  const makeStore = (options: BackingOptions): Store => {
    const state = newState(options.now, options.remembersMs);
    const store = storeOf(state, options);
    return { ...store, ...breakIt(state, store) };
  };
  return { name, what, makeStore };
}

/** A bug in the engine: what it sends or hears is changed above the wire, where the engine is. */
export function inEngine(
  name: string,
  what: string,
  breakIt: (store: Store, now: () => number) => Partial<Store>,
): PlantedBug {
  return { name, what, tamperEngine: (store, now) => ({ ...store, ...breakIt(store, now) }) };
}

/** A bug in what stands on the engine. */
export function inControl(...bug: Parameters<typeof inEngine>): PlantedBug {
  return { ...inEngine(...bug), isUnderControl: true };
}

/** The memory store from its parts: the same verbs, but the state can be reached. */
function storeOf(state: MemoryState, options: BackingOptions): Store {
  const verb =
    <Args extends readonly unknown[], Answer>(
      work: (state: MemoryState, ...args: Args) => Answer,
    ): ((...args: Args) => Promise<Answer>) =>
    async (...args) =>
      work(state, ...args);
  return {
    open: async () => {},
    close: async () => state.wakeups.clear(),
    info: () => memoryStore(options).info(),
    now: async () => state.clock.now(),
    onWakeup: (listener) => state.wakeups.listen(listener),
    insert: verb(insert),
    adopt: verb(adopt),
    lease: verb(lease),
    renew: verb(renew),
    settle: verb(settle),
    reap: verb(reap),
    disown: verb(disown),
    cancel: verb(cancel),
    revive: verb(revive),
    reschedule: verb(reschedule),
    remove: verb(remove),
    prune: verb(prune),
    get: verb(get),
    place: verb(place),
    find: verb(find),
    count: verb(count),
    countDead: verb(countDead),
    hold: verb(hold),
    limit: verb(limit),
    lines: verb(lines),
    outbox: { read: verb(readOutbox), clear: verb(clearOutbox) },
    ledger: {
      append: verb(append),
      read: verb(read),
      amend: verb(amend),
      count: verb(countEntries),
      trim: verb(trim),
      remove: verb(removeEntries),
    },
    records: { read: verb(readRecords), swap: verb(swap), scan: verb(scan) },
  };
}
