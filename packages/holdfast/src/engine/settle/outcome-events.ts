/** Which events an outcome makes, once the store has it. */
import type { Outcome } from "../../core/outcome.ts";
import type { Events } from "../events.ts";
import type { Timings } from "../extension.ts";
import { aboutJob } from "../run/about-job.ts";
import type { Attempt } from "../run/attempt.ts";

export function outcomeEvents(
  events: Events,
  attempt: Attempt,
  outcome: Outcome,
  timings: Timings,
  why = "the worker stopped",
): void {
  switch (outcome.kind) {
    case "succeed":
      return events.emit("succeeded", () => ({ ...aboutJob(attempt), ...timings }));
    case "retry": {
      const { failure, afterMs: retryInMs } = outcome;
      const willRetry = true;
      return events.emit("failed", () => ({
        ...{ ...aboutJob(attempt), ...timings, failure, willRetry, retryInMs },
      }));
    }
    case "die": {
      const { failure, reason, ran } = outcome;
      const { category } = failure;
      if (ran) {
        const ended = { willRetry: false, retryInMs: null };
        events.emit("failed", () => ({ ...aboutJob(attempt), ...timings, failure, ...ended }));
      }
      return events.emit("dead", () => ({
        ...aboutJob(attempt),
        ...timings,
        reason,
        category,
        failure,
      }));
    }
    case "snooze":
      return events.emit("snoozed", () => ({ ...aboutJob(attempt), forMs: outcome.afterMs }));
    case "release":
      return events.emit("released", () => ({ ...aboutJob(attempt), reason: why }));
    case "cancel":
      return events.emit("cancelled", () => ({ ...aboutJob(attempt), reason: outcome.reason }));
  }
}
