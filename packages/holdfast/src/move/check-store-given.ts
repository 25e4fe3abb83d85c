/** A caller who moves jobs hands in stores, not URLs: said at once instead of by a stack. */
import { InvalidOptionError } from "../core/errors.ts";
import type { Store } from "../core/store.ts";

export function checkStoreGiven(what: string, store: unknown): asserts store is Store {
  if (typeof (store as Partial<Store> | null | undefined)?.adopt === "function") return;
  throw new InvalidOptionError(
    `${what} takes a store that is open: const store = sqliteStore({ file }); await store.open()`,
  );
}

export function checkQueueNames(what: string, queues: unknown): void {
  const isList = Array.isArray(queues) && queues.every((queue) => typeof queue === "string");
  if (queues === undefined || isList) return;
  throw new InvalidOptionError(`queues of ${what} is a list of names: ["mail"]`);
}
