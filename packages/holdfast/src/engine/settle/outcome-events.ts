/** Which events an outcome makes, once the store has it. */
import type { Outcome } from "../../core/outcome.ts";
import type { AboutJob, Events } from "../events.ts";

export function outcomeEvents(
  events: Events,
  job: AboutJob,
  outcome: Outcome,
  told: { readonly why?: string; readonly waitedMs: number; readonly ranMs: number },
): void {
  const { why = "the worker stopped", waitedMs, ranMs } = told;
  switch (outcome.kind) {
    case "succeed":
      return events.emit("succeeded", () => ({ ...job, waitedMs, ranMs }));
    case "retry": {
      const { failure, afterMs: retryInMs } = outcome;
      const willRetry = true;
      return events.emit("failed", () => ({
        ...{ ...job, waitedMs, ranMs, failure, willRetry, retryInMs },
      }));
    }
    case "die": {
      const { failure, reason, ran } = outcome;
      const { category } = failure;
      if (ran) {
        const ended = { willRetry: false, retryInMs: null };
        events.emit("failed", () => ({ ...job, waitedMs, ranMs, failure, ...ended }));
      }
      return events.emit("dead", () => ({ ...job, waitedMs, ranMs, reason, category, failure }));
    }
    case "snooze":
      return events.emit("snoozed", () => ({ ...job, forMs: outcome.afterMs }));
    case "release":
      return events.emit("released", () => ({ ...job, reason: why }));
    case "cancel":
      return events.emit("cancelled", () => ({ ...job, reason: outcome.reason }));
  }
}
