/** Ends of attempts, and the calls that record them. */
import assert from "node:assert/strict";
import type { Failure } from "../../core/job.ts";
import type { LedgerEntry } from "../../core/ledger.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { LeaseRef, RenewResult, Updates, Settlement, Store } from "../../core/store.ts";
import { newId } from "./new-job.ts";
import { LONG_MS } from "./times.ts";

export const FAILURE: Failure = {
  category: "network",
  message: "connect ECONNREFUSED",
  stack: "Error: connect ECONNREFUSED\n    at send (mail.ts:7:3)",
  fingerprint: "email.send network connect",
};

export function succeed(result: string | null = null): Outcome {
  return { kind: "succeed", result, resultDropped: false };
}

export function retry(afterMs = 0, failure: Failure = FAILURE): Outcome {
  return { kind: "retry", afterMs, spend: true, failure };
}

/** A retry that spends no attempt: the other side named the time. */
export function defer(afterMs = 0): Outcome {
  return { kind: "retry", afterMs, spend: false, failure: FAILURE };
}

export function snooze(afterMs = 0): Outcome {
  return { kind: "snooze", afterMs };
}

export function release(afterMs = 0): Outcome {
  return { kind: "release", afterMs };
}

export function cancelled(reason: string | null = null): Outcome {
  return { kind: "cancel", reason };
}

export function die(reason = "failed", failure: Failure = FAILURE): Outcome {
  return { kind: "die", reason, failure, ran: true };
}

/** The engine ends a job without starting its handler. */
export function dieUnstarted(reason = "poison"): Outcome {
  return { kind: "die", reason, failure: FAILURE, ran: false };
}

/** What an engine hands back: the four words of the lease and nothing else. */
export function leaseRef(job: LeaseRef): LeaseRef {
  return { id: job.id, queue: job.queue, handle: job.handle, fence: job.fence };
}

export function settlement(
  job: LeaseRef,
  outcome: Outcome,
  extras: Partial<Settlement> = {},
): Settlement {
  return { ...leaseRef(job), outcome, ...extras };
}

/** Settles one attempt, which must still be its holder's. */
export async function settle(
  store: Store,
  job: LeaseRef,
  outcome: Outcome,
  extras: Partial<Settlement> = {},
): Promise<void> {
  assert.deepEqual(await store.settle([settlement(job, outcome, extras)]), ["settled"]);
}

/** Settles an attempt that is no longer its holder's. */
export async function settleLost(
  store: Store,
  job: LeaseRef,
  outcome: Outcome,
  extras: Partial<Settlement> = {},
): Promise<void> {
  assert.deepEqual(await store.settle([settlement(job, outcome, extras)]), ["lost"]);
}

export async function renew(
  store: Store,
  job: LeaseRef,
  updates?: Updates,
  leaseMs = LONG_MS,
): Promise<RenewResult> {
  const renewal = updates === undefined ? leaseRef(job) : { ...leaseRef(job), updates };
  const [result] = await store.renew([renewal], leaseMs);
  assert.ok(result, "one renewal in, one result out");
  return result;
}

/** Says that the handlers of these start, each of which must still be its holder's. */
export async function start(
  store: Store,
  jobs: readonly LeaseRef[],
  leaseMs = LONG_MS,
): Promise<void> {
  const renewals = jobs.map((job) => ({ ...leaseRef(job), starts: true }));
  const results = await store.renew(renewals, leaseMs);
  assert.ok(
    results.every((result) => result !== "lost"),
    "a holder may start what it holds",
  );
}

export function ledgerEntry(overrides: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    id: newId(),
    kind: "failure",
    jobId: null,
    type: null,
    queue: null,
    group: null,
    category: null,
    fingerprint: null,
    company: null,
    isFinal: null,
    state: "open",
    body: "{}",
    at: null,
    ...overrides,
  };
}
