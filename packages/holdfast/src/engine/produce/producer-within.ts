/** Enqueues inside a caller's own transaction: the job exists exactly if that commits. */
import { UnsupportedError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { currentAttempt } from "../run/current-attempt.ts";
import type { Producer } from "./producer.ts";

export function producerWithin(
  { store, producer }: { readonly store: Store; readonly producer: Producer },
  tx: unknown,
  ready: () => Promise<void>,
): Pick<Producer, "enqueue" | "enqueueAll"> {
  const { within } = store;
  if (!within) {
    throw new UnsupportedError(
      `the ${store.info().name} store cannot write inside its callers' transactions`,
    );
  }
  const transaction = ready().then(() => {
    const opened = within.call(store, tx);
    const attempt = currentAttempt();
    if (attempt && store.info().transactionBlocksWriters) attempt.blockedBy = opened;
    return opened;
  });
  // The caller that uses it hears of the failure; it is not unhandled until then.
  transaction.catch(() => {});
  return producer.through(
    async (jobs) => (await transaction).insert(jobs),
    async (refs) => {
      const opened = await transaction;
      return opened.get ? opened.get(refs) : store.get(refs);
    },
  );
}
