/** Which events an outcome makes, once the store has it. */
import type { Outcome } from "../../core/outcome.ts";
import type { Events, JobEvents } from "../events.ts";

export function outcomeEvents(
  events: Events,
  job: JobEvents["started"],
  outcome: Outcome,
  told: { readonly why?: string; readonly ranMs?: number },
): void {
  switch (outcome.kind) {
    case "succeed":
      return events.emit("succeeded", () => ({ ...job, ranMs: told.ranMs ?? 0 }));
    case "retry": {
      const { failure, afterMs } = outcome;
      return events.emit("failed", () => ({
        ...job,
        failure,
        willRetry: true,
        retryInMs: afterMs,
      }));
    }
    case "die": {
      const { failure, reason, ran } = outcome;
      if (ran) {
        events.emit("failed", () => ({ ...job, failure, willRetry: false, retryInMs: null }));
      }
      return events.emit("dead", () => ({ ...job, reason, category: failure.category, failure }));
    }
    case "snooze":
      return events.emit("snoozed", () => ({ ...job, forMs: outcome.afterMs }));
    case "release":
      return events.emit("released", () => ({ ...job, reason: told.why ?? "the worker stopped" }));
    case "cancel":
      return events.emit("cancelled", () => ({ ...job, reason: outcome.reason }));
  }
}
