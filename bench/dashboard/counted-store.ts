/** A store that notes which of its verbs were called, and when jobs were counted: that is the overview's read. */
import type { Store } from "holdfast";

export interface StoreCalls {
  readonly byVerb: Readonly<Record<string, number>>;
  /** Of each `count()`, in milliseconds. */
  readonly countedAt: readonly number[];
}

export interface CountedStore {
  readonly store: Store;
  /** Since the last time that this was asked. */
  take(): StoreCalls;
}

export function countedStore(own: Store): CountedStore {
  let byVerb: Record<string, number> = {};
  let countedAt: number[] = [];
  const store = new Proxy(own, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...given: unknown[]): unknown => {
        byVerb[String(name)] = (byVerb[String(name)] ?? 0) + 1;
        if (name === "count") countedAt.push(Date.now());
        return Reflect.apply(value, target, given);
      };
    },
  });
  return {
    store,
    take() {
      const taken = { byVerb, countedAt };
      [byVerb, countedAt] = [{}, []];
      return taken;
    },
  };
}
