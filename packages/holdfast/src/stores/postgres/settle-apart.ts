/**
 * Settlements of one call whose spawned jobs have keys. A key may belong to somebody's open transaction, for as
 * long as that takes: then its parent waits for it, and no other outcome of the call does.
 */
import { KeyBusyError, StoreUnavailableError } from "../../core/errors.ts";
import type { Settlement, SettleResult } from "../../core/store.ts";
import { isLockTimeout } from "./postgres-error.ts";

type Settle = (some: readonly Settlement[]) => Promise<SettleResult[]>;

export async function settleApart(
  settlements: readonly Settlement[],
  settle: Settle,
): Promise<SettleResult[]> {
  try {
    return await settle(settlements);
  } catch (error) {
    if (!isBusy(error) || !settlements.some(mayWait)) throw error;
    const others = settlements.filter((one) => !mayWait(one));
    const results = others.length > 0 ? await settle(others) : [];
    const answers = new Map(others.map((one, at) => [one, results[at] as SettleResult]));
    for (const one of settlements.filter(mayWait)) {
      const [answer] = await settle([one]).catch((reason: unknown) => {
        if (isBusy(reason)) return ["busy"] as const;
        throw reason;
      });
      answers.set(one, answer as SettleResult);
    }
    return settlements.map((one) => answers.get(one) as SettleResult);
  }
}

function mayWait({ spawn = [] }: Settlement): boolean {
  return spawn.some(({ dedupe }) => dedupe !== null);
}

function isBusy(error: unknown): boolean {
  if (error instanceof KeyBusyError) return true;
  return error instanceof StoreUnavailableError && isLockTimeout(error.cause);
}
