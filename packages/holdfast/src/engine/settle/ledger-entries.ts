/**
 * From what happened to what the ledger says of it. Ids come from the job and the fence, or are drawn
 * once by the caller, so that an entry that is written or carried again is the same entry.
 */
import type { AuditBody, FailureBody, LedgerEntry } from "../../core/ledger.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { LeasedJob } from "../../core/store.ts";

export interface EndedAttempt {
  readonly job: LeasedJob;
  readonly worker: string;
}

/** Null for outcomes that the ledger has nothing to say of. `at` null: the clock of its store. */
export function outcomeEntry(
  { job, worker }: EndedAttempt,
  outcome: Outcome,
  at: number | null,
): LedgerEntry | null {
  switch (outcome.kind) {
    case "succeed":
    case "snooze":
    case "release":
      return null;
    case "retry":
    case "die":
      return failureEntry({ job, worker }, outcome, at);
    case "cancel":
      return auditEntry(
        `audit:${job.id}:${job.fence}`,
        { action: "cancel", by: null, reason: outcome.reason, worker, details: {} },
        { jobId: job.id, type: job.type, queue: job.queue, group: job.group, at },
      );
  }
}

/** What an entry is about, as far as it is known. */
export interface About {
  readonly jobId?: string;
  readonly type?: string;
  readonly queue?: string;
  /** `""` and null: no group. */
  readonly group?: string | null;
  readonly state?: string;
  readonly at: number | null;
}

export function auditEntry(id: string, body: AuditBody, about: About): LedgerEntry {
  return {
    id,
    kind: "audit",
    jobId: about.jobId ?? null,
    type: about.type ?? null,
    queue: about.queue ?? null,
    group: about.group || null,
    category: null,
    state: about.state ?? "done",
    body: JSON.stringify(body),
    at: about.at,
  };
}

function failureEntry(
  { job, worker }: EndedAttempt,
  outcome: Extract<Outcome, { kind: "retry" | "die" }>,
  at: number | null,
): LedgerEntry {
  const { failure } = outcome;
  const isFinal = outcome.kind === "die";
  const body: FailureBody = {
    attempt: job.attempt,
    maxAttempts: job.maxAttempts,
    isFinal,
    reason: isFinal ? outcome.reason : null,
    retryInMs: isFinal ? null : outcome.afterMs,
    category: failure.category,
    message: failure.message,
    stack: failure.stack,
    fingerprint: failure.fingerprint,
    worker,
    fence: job.fence,
  };
  return {
    id: `failure:${job.id}:${job.fence}`,
    kind: "failure",
    jobId: job.id,
    type: job.type,
    queue: job.queue,
    group: job.group || null,
    category: failure.category,
    state: isFinal ? "open" : "retrying",
    body: JSON.stringify(body),
    at,
  };
}
