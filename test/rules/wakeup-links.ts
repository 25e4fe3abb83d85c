/** Links to a store for rules about wakeups. */
import type { Store } from "../../packages/holdfast/src/index.ts";
import type { Wakeup } from "../../packages/holdfast/src/core/store.ts";

/** A store whose wakeups cross processes, as far as it says. */
export function crossing(store: Store): Store {
  return new Proxy(store, {
    get(target, verb) {
      const member: unknown = Reflect.get(target, verb);
      if (verb !== "info") return member;
      return () => ({ ...target.info(), wakeups: "processes" });
    },
  });
}

/** A store whose wakeups are ours to send. */
export function heard(store: Store, wakes: ((wakeup: Wakeup) => void)[]): Store {
  return new Proxy(crossing(store), {
    get(target, verb) {
      const member: unknown = Reflect.get(target, verb);
      if (verb !== "onWakeup") return member;
      return (listener: (wakeup: Wakeup) => void) => {
        wakes.push(listener);
        return () => void wakes.splice(wakes.indexOf(listener), 1);
      };
    },
  });
}
