/** What an outcome makes of a job; the table is in `core/outcome.ts`. */
import { historyWith, recordedAs } from "../../core/history.ts";
import type { Outcome } from "../../core/outcome.ts";
import { instantAfter } from "./clock.ts";
import type { Changes } from "./edit.ts";
import { attemptsBefore, endCancelled, finish, requeue, type Moment } from "./moves.ts";
import type { JobDocument } from "./schema.ts";

export function conclude(job: JobDocument, outcome: Outcome, moment: Moment): Changes {
  const { now } = moment;
  const failure = "failure" in outcome ? outcome.failure : null;
  const stopWhy = outcome.kind === "succeed" ? null : (job.cancelWhy ?? null);
  const hasRun = outcome.kind !== "die" || outcome.ran;
  const recorded = stopWhy !== null && hasRun ? "cancelled" : recordedAs(job, outcome);
  const changes: Changes = {
    ...(failure === null ? {} : { error: { ...failure } }),
    ...(recorded !== null && { history: historyWith(job, { outcome: recorded, failure, now }) }),
    ...(hasRun ? {} : givenBack(job)),
  };
  if (stopWhy !== null) return { ...changes, ...endCancelled(job, stopWhy, moment) };
  switch (outcome.kind) {
    case "succeed": {
      const { result, resultDropped } = outcome;
      const ended = finish(job, "succeeded", moment);
      return { ...changes, ...ended, result, resultDropped: resultDropped || null, error: null };
    }
    case "retry": {
      const deferred = { ...givenBack(job), deferrals: job.deferrals + 1 };
      const runAt = instantAfter(now, outcome.afterMs);
      return { ...changes, ...(outcome.spend ? {} : deferred), ...requeue(job, runAt, moment) };
    }
    case "snooze":
    case "release": {
      const runAt = instantAfter(now, outcome.afterMs);
      return { ...changes, ...givenBack(job), ...requeue(job, runAt, moment) };
    }
    case "cancel": {
      const why = { reason: outcome.reason, by: null };
      return { ...changes, ...endCancelled(job, why, moment) };
    }
    case "die":
      return { ...changes, ...finish(job, "dead", moment), reason: outcome.reason };
  }
}

function givenBack(job: JobDocument): Changes {
  return { attempts: attemptsBefore(job) };
}
