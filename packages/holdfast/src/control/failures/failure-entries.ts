/**
 * One entry in the ledger for every attempt that failed, and for every job that its own handler cancelled.
 * Ids come from the job and the fence, so that an entry that is written or carried again is the same.
 */
import type { FailureBody, LedgerEntry } from "../../core/ledger.ts";
import type { Outcome } from "../../core/outcome.ts";
import {
  auditEntry,
  type AttemptView,
  type Extension,
  type ExtensionHost,
} from "../../engine/extension.ts";

export function failureEntries(host: ExtensionHost): Extension {
  return {
    name: "failures",
    decided(attempt, outcome) {
      const entry = entryOf(attempt, outcome, host.entryTime());
      return entry ? { outcome, entries: [entry] } : undefined;
    },
  };
}

/** Null for outcomes that the ledger has nothing to say of. */
function entryOf(attempt: AttemptView, outcome: Outcome, at: number | null): LedgerEntry | null {
  switch (outcome.kind) {
    case "succeed":
    case "snooze":
    case "release":
      return null;
    case "retry":
    case "die":
      return failureEntry(attempt, outcome, at);
    case "cancel": {
      const { id, fence, type, queue, group, worker } = attempt;
      return auditEntry(
        `audit:${id}:${fence}`,
        { action: "cancel", by: null, reason: outcome.reason, worker, details: {} },
        { jobId: id, type, queue, group, at },
      );
    }
  }
}

function failureEntry(
  attempt: AttemptView,
  outcome: Extract<Outcome, { kind: "retry" | "die" }>,
  at: number | null,
): LedgerEntry {
  const { id, fence, type, queue, group } = attempt;
  const { failure } = outcome;
  const isFinal = outcome.kind === "die";
  const body: FailureBody = {
    attempt: attempt.attempt,
    maxAttempts: attempt.maxAttempts,
    isFinal,
    reason: isFinal ? outcome.reason : null,
    retryInMs: isFinal ? null : outcome.afterMs,
    category: failure.category,
    message: failure.message,
    stack: failure.stack,
    fingerprint: failure.fingerprint,
    worker: attempt.worker,
    fence,
  };
  return {
    id: `failure:${id}:${fence}`,
    kind: "failure",
    jobId: id,
    ...{ type, queue, group },
    category: failure.category,
    fingerprint: failure.fingerprint,
    isFinal,
    state: isFinal ? "open" : "retrying",
    body: JSON.stringify(body),
    at,
  };
}
