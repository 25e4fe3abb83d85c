/** The end of an operation, for the log and the ledger. */
import { derivedUuid, type ExtensionHost } from "../../engine/extension.ts";
import { tellUnmarked } from "./failure-marks.ts";
import { outcomesOf, type OperationRecord } from "./operation.ts";
import { writeOperation, type Versioned } from "./operation-records.ts";

export function ended(operation: OperationRecord, now: number): OperationRecord {
  const state = operation.action === "retry" && operation.done > 0 ? "settling" : "finished";
  return { ...operation, state, endedAt: now, resumedAt: null, told: false };
}

/** Its entry has an id of its own, so that a second one is the same. */
export async function tell(host: ExtensionHost, { operation, version }: Versioned): Promise<void> {
  const { id, action, state, filter, count, done, refused, missing, by, reason } = operation;
  const details = { operation: id, what: action, filter, count, done, refused, missing };
  const { entries, locks } = operation.erase ?? {};
  const erasure = operation.erase && { entries, locks };
  const outcome = { ...details, ...outcomesOf(operation), ...erasure };
  host.logger.info(`operation ${id} (${action}) is ${state}`, {
    type: "OPERATION",
    state,
    ...outcome,
  });
  const { length: unmarked } = operation.unmarked ?? [];
  if (unmarked > 0) tellUnmarked(host, unmarked);
  const entry = derivedUuid("operation", id, state);
  await host.audit({ action: `operation ${state}`, by, reason, details: outcome }, { id: entry });
  await writeOperation(host.records, { ...operation, told: true }, version);
}
