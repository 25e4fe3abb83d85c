/**
 * Which attempt the running code belongs to. Two things need it: a step inside a step is refused,
 * and a write that would wait for the handler's own open transaction is refused instead of hanging.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { TransactionOpenError } from "../../core/errors.ts";
import type { Attempt } from "./attempt.ts";

interface Current {
  readonly attempt: Attempt;
  readonly step: string | null;
}

const storage = new AsyncLocalStorage<Current>();

export function runAs<Out>(attempt: Attempt, body: () => Out): Out {
  return storage.run({ attempt, step: null }, body);
}

export function runAsStep<Out>(attempt: Attempt, step: string, body: () => Out): Out {
  return storage.run({ attempt, step }, body);
}

/** Runs what belongs to no attempt (a listener), although an attempt may have set it off. */
export function runAsNobody<Out>(body: () => Out): Out {
  return storage.exit(body);
}

export function currentAttempt(): Attempt | null {
  return storage.getStore()?.attempt ?? null;
}

export function currentStep(): string | null {
  return storage.getStore()?.step ?? null;
}

/** Call before anything that writes through the store's own connection. */
export function refuseInOpenTransaction(): void {
  if (currentAttempt()?.blockedBy?.isOpen()) {
    throw new TransactionOpenError(
      "this handler has a transaction open, and it is the only writer of the database: commit it first, or write through hf.within(tx)",
    );
  }
}
