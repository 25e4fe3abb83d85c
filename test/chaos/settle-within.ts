/**
 * A handler that settles its job in a transaction of its own, and writes down what became of it: the judge
 * hears of the settle when the transaction has committed, because only then it has happened.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { RunningJob } from "../../packages/holdfast/src/index.ts";
import type { ChaosTransactions } from "./chaos-store.ts";
import type { ChaosPayload, ChaosResult } from "./contracts.ts";
import { monotonicMs, type Witness } from "./witness.ts";

export async function settleWithin(
  job: RunningJob<ChaosPayload>,
  transactions: ChaosTransactions | null,
  witness: Witness,
): Promise<void> {
  if (!transactions) throw new Error("this store takes part in no transactions");
  const { id, fence, payload, attempt } = job;
  const settling = { id, fence, kind: "succeed" } as const;
  const transaction = await transactions.begin();
  try {
    const result: ChaosResult = { by: witness.by, fence };
    witness.saw({ what: "within", id, fence });
    await job.settleWithin(transaction.tx, { result });
    await pause(payload.ms, undefined, { signal: job.signal });
    // What was settled in a transaction that is rolled back must not be settled.
    if (attempt === 1 && payload.ms % 3 === 0) throw new Error("not yet");
    const askedAt = monotonicMs();
    witness.saw({ what: "settling", jobs: [settling] });
    await transaction.commit();
    witness.saw({ what: "settled", askedAt, jobs: [{ ...settling, answer: "settled" }] });
    witness.saw({ what: "committed", id, fence });
  } catch (error) {
    await transaction.rollback().catch(() => {});
    throw error;
  }
}
