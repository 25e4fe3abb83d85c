/**
 * One entry in the ledger for every attempt that failed, and for every job that its own handler cancelled.
 * Ids come from the job and the fence, so that an entry that is written or carried again is the same.
 */
import type { FailureBody, LedgerEntry } from "../../core/ledger.ts";
import type { Outcome } from "../../core/outcome.ts";
import {
  auditEntry,
  derivedUuid,
  type AttemptView,
  type Extension,
  type ExtensionHost,
} from "../../engine/extension.ts";
import { companyOf } from "./company-of.ts";

export function failureEntries(host: ExtensionHost): Extension {
  return {
    name: "failures",
    decided(attempt, outcome) {
      const entry = entryOf(host, attempt, outcome);
      return entry ? { outcome, entries: [entry] } : undefined;
    },
  };
}

/** Null for outcomes that the ledger has nothing to say of. */
function entryOf(host: ExtensionHost, attempt: AttemptView, outcome: Outcome): LedgerEntry | null {
  switch (outcome.kind) {
    case "succeed":
    case "snooze":
    case "release":
      return null;
    case "retry":
    case "die":
      return failureEntry(host, attempt, outcome);
    case "cancel": {
      const { id, fence, type, queue, group, worker } = attempt;
      return auditEntry(
        derivedUuid("audit", id, fence),
        { action: "cancel", by: null, reason: outcome.reason, worker, details: {} },
        { jobId: id, type, queue, group, at: host.entryTime() },
      );
    }
  }
}

function failureEntry(
  host: ExtensionHost,
  attempt: AttemptView,
  outcome: Extract<Outcome, { kind: "retry" | "die" }>,
): LedgerEntry {
  const { id, fence, type, queue, group, payloadText } = attempt;
  const { failure } = outcome;
  const { redactor } = host;
  const isFinal = outcome.kind === "die";
  const body: Omit<FailureBody, "payload"> = {
    attempt: attempt.attempt,
    maxAttempts: attempt.maxAttempts,
    isFinal,
    reason: isFinal ? outcome.reason : null,
    retryInMs: isFinal ? null : outcome.afterMs,
    category: failure.category,
    message: redactor.text(failure.message),
    stack: failure.stack === null ? null : redactor.text(failure.stack),
    fingerprint: failure.fingerprint,
    worker: attempt.worker,
    fence,
  };
  const payload = redactor.json(payloadText, host.entryPayloadBytes());
  return {
    id: derivedUuid("failure", id, fence),
    kind: "failure",
    jobId: id,
    ...{ type, queue, group },
    category: failure.category,
    fingerprint: failure.fingerprint,
    company: companyOf(payloadText, group),
    isFinal,
    state: isFinal ? "open" : "retrying",
    // The payload is JSON text already.
    body: `${JSON.stringify(body).slice(0, -1)},"payload":${payload}}`,
    at: host.entryTime(),
  };
}
