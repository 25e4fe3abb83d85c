/**
 * The store of a Holdfast that has none and runs every job in its caller. It is surely away, always;
 * whatever needs a real one says so.
 */
import { StoreUnavailableError, UnsupportedError } from "../core/errors.ts";
import type { Store } from "../core/store.ts";

export function noStore(): Store {
  const refuse = (): never => {
    throw new UnsupportedError(
      "this Holdfast has no store: it only enqueues, which runs the handler in the caller",
    );
  };
  const there: Partial<Store> = {
    open: async () => {},
    close: async () => {},
    info: refuse,
    onWakeup: () => () => {},
    async insert() {
      throw new StoreUnavailableError("there is no store", { mayHaveHappened: false });
    },
  };
  return new Proxy(there as Store, {
    // No transactions either: `within` is absent, as in a store that has none.
    get: (target, name) =>
      name === "within" ? undefined : (Reflect.get(target, name) ?? (async () => refuse())),
  });
}
