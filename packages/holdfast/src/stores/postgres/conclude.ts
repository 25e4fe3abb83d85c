/** What an outcome makes of a job; the table is in `core/outcome.ts`. Decides, writes nothing. */
import type { AttemptRecord, Failure, FinishedStatus } from "../../core/job.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Settlement } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import type { HeldLease } from "./held-lease.ts";
import { HAS_PAST, type Finished, type Moving } from "./placement.ts";
import { errorColumns, isEmpty, type DetailsChange } from "./job-details.ts";

export interface Conclusion {
  readonly lease: HeldLease;
  /** Where it goes back to, if it does. */
  readonly back: Moving | null;
  /** How it ended, if it did. */
  readonly finished: Finished | null;
  /** The attempt that ended, if it is to be recorded. */
  readonly record: AttemptRecord | null;
  /** What is to be noted; null if nothing is. */
  readonly details: DetailsChange | null;
}

export function conclude(lease: HeldLease, settlement: Settlement, now: number): Conclusion {
  const { outcome } = settlement;
  if (lease.isCancelAsked && outcome.kind !== "succeed") {
    return endUnhappily(lease, now, {
      as: "cancelled",
      failure: "failure" in outcome ? outcome.failure : null,
      hasRun: outcome.kind !== "die" || outcome.ran,
      why: { reason: lease.cancelReason, by_whom: lease.cancelBy },
    });
  }
  switch (outcome.kind) {
    case "succeed":
      return endHappily(lease, now, { outcome, hasUpdates: !isEmpty(settlement.updates) });
    case "retry": {
      const { failure, spend, afterMs } = outcome;
      return {
        ...goBack(lease, now, { afterMs, isGivenBack: !spend, failure }),
        record: recordOf(lease, now, { outcome: "failed", failure }),
      };
    }
    case "snooze":
    case "release":
      return goBack(lease, now, { afterMs: outcome.afterMs, isGivenBack: true, failure: null });
    case "cancel": {
      const why = { reason: outcome.reason, by_whom: null };
      return endUnhappily(lease, now, { as: "cancelled", failure: null, hasRun: true, why });
    }
    case "die": {
      const { failure, ran: hasRun, reason } = outcome;
      return endUnhappily(lease, now, { as: "dead", failure, hasRun, why: { reason } });
    }
  }
}

function endHappily(
  lease: HeldLease,
  now: number,
  how: {
    readonly outcome: Extract<Outcome, { readonly kind: "succeed" }>;
    readonly hasUpdates: boolean;
  },
): Conclusion {
  const { result, resultDropped } = how.outcome;
  // A success at the first attempt leaves no record: the job itself tells everything.
  const isRecorded = lease.attempts !== 1;
  const hasPast = isRecorded || how.hasUpdates || (lease.flags & HAS_PAST) !== 0;
  return {
    lease,
    back: null,
    finished: { ...finishedOf(lease, "succeeded", now), result, resultDropped },
    record: isRecorded ? recordOf(lease, now, { outcome: "succeeded", failure: null }) : null,
    details: hasPast ? { ...errorColumns(null), result: null } : null,
  };
}

/** Dead or cancelled. What has not run spends no attempt and leaves no record. */
function endUnhappily(
  lease: HeldLease,
  now: number,
  how: {
    readonly as: "dead" | "cancelled";
    readonly failure: Failure | null;
    readonly hasRun: boolean;
    /** Who is not named stays whoever was last. */
    readonly why: { readonly reason: string | null; readonly by_whom?: string | null };
  },
): Conclusion {
  const { as, failure, hasRun, why } = how;
  const outcome = as === "dead" ? "failed" : "cancelled";
  const attempts = lease.attempts - (hasRun ? 0 : lease.spent);
  return {
    lease,
    back: null,
    finished: { ...finishedOf(lease, as, now), attempts },
    record: hasRun ? recordOf(lease, now, { outcome, failure }) : null,
    details: { ...(failure === null ? {} : errorColumns(failure)), ...why },
  };
}

/** Back to its place in line, or among the delayed. Only what this lease added is given back. */
function goBack(
  lease: HeldLease,
  now: number,
  how: {
    readonly afterMs: number;
    readonly isGivenBack: boolean;
    readonly failure: Failure | null;
  },
): Conclusion {
  const { failure, isGivenBack } = how;
  const { leasedAt, worker } = lease;
  return {
    lease,
    back: {
      ...lease,
      settledFence: lease.fence,
      attempts: lease.attempts - (isGivenBack ? lease.spent : 0),
      runAt: instantAfter(now, how.afterMs),
    },
    finished: null,
    record: null,
    details: {
      started_at: leasedAt,
      worker,
      ...(failure === null ? {} : errorColumns(failure)),
      ...(failure !== null && isGivenBack ? { deferrals: lease.deferrals + 1 } : {}),
    },
  };
}

function finishedOf(lease: HeldLease, as: FinishedStatus, now: number): Finished {
  return {
    ...lease,
    settledFence: lease.fence,
    as,
    finishedAt: now,
    startedAt: lease.leasedAt,
    result: null,
    resultDropped: false,
  };
}

export function recordOf(
  lease: HeldLease,
  now: number,
  how: { readonly outcome: AttemptRecord["outcome"]; readonly failure: Failure | null },
): AttemptRecord {
  const { category = null, message = null, stack = null } = how.failure ?? {};
  return {
    attempt: lease.attempts,
    fence: lease.fence,
    worker: lease.worker,
    startedAt: lease.leasedAt,
    endedAt: now,
    outcome: how.outcome,
    ...{ category, message, stack },
  };
}
