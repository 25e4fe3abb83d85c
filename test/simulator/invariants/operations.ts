/**
 * Operations conserve: each job that one was planned for is dealt with at most once, and what it says it has done
 * is what was done. Once all was dealt with, done, refused and missing add up to the plan.
 */
import type { OperationRecord } from "../../../packages/holdfast/src/control/operations/operation.ts";
import type { Court, Watcher } from "../watcher.ts";

const OPERATIONS = "holdfast/operations/";

export function operationsConserve({ book, complain }: Court): Watcher {
  const name = "an operation touches each job once, and counts it";
  /** By operation: the jobs that a retry of it revived. */
  const revived = new Map<string, Set<string>>();
  /** By operation: how many jobs were in steps that another turn repeated. */
  const repeated = new Map<string, number>();
  return {
    swapped({ key, value }) {
      if (!key.startsWith(OPERATIONS)) return;
      const id = key.slice(OPERATIONS.length);
      const before = book.operations.get(id);
      if (value === null) return void book.operations.delete(id);
      const operation = JSON.parse(value) as OperationRecord;
      book.operations.set(id, operation);
      const { step, carrier } = operation;
      const isClaim = carrier !== null && carrier.until !== before?.carrier?.until;
      if (isClaim && step) repeated.set(id, (repeated.get(id) ?? 0) + step.to - step.from);
    },
    operated(id, { verb }, result, by) {
      const operation = /\(operation ([^)]+)\)$/.exec(by ?? "")?.[1];
      if (operation === undefined || verb !== "revive" || result !== "done") return;
      const jobs = revived.get(operation) ?? new Set();
      if (jobs.has(id)) complain(name, `operation ${operation} revives a job a second time`, id);
      revived.set(operation, jobs.add(id));
    },
    calmed() {
      for (const operation of book.operations.values()) {
        const { id, action, state, count, done, refused, missing, step } = operation;
        const isThrough = state === "finished" || state === "settling";
        if (isThrough && done + refused + missing !== count) {
          const sum = `${done} done, ${refused} refused, ${missing} missing`;
          complain(name, `operation ${id} of ${count} is ${state} with ${sum}`);
        }
        if (action !== "retry") continue;
        const touched = revived.get(id)?.size ?? 0;
        // A step whose process died, of an operation that a person stopped then, is not counted.
        const unknown = step === null ? 0 : step.to - step.from;
        // A job of a repeated step that is gone counts as retried. Another may have removed it instead.
        if (touched < done - (repeated.get(id) ?? 0) || touched > done + unknown) {
          complain(name, `operation ${id} is ${state} with ${done} done, it revived ${touched}`);
        }
      }
    },
  };
}
