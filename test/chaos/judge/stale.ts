/**
 * What a worker says after somebody else has its job must change nothing. And nobody may have a job
 * whose lease still runs.
 */
import { resultOf } from "./enqueued.ts";
import { nameOf, recordOf, wasSettledBefore } from "./evidence.ts";
import type { Evidence, Finding, JobStory, Lease } from "./evidence.ts";

export interface Stale {
  /** Late settles and renewals that were refused, as they should be. */
  readonly refused: number;
  readonly findings: readonly Finding[];
}

/** The store's clock may be slewed, and counts in whole milliseconds. */
const SLACK_MS = 50;
const FINISHING = ["succeed", "die", "cancel"];

export function judgeStale(evidence: Evidence): Stale {
  const findings: Finding[] = [];
  let refused = 0;
  for (const job of evidence.jobs.values()) {
    for (const text of staleAccepted(job)) findings.push({ rule: "stale accepted", text });
    for (const text of twoHolders(job, evidence)) findings.push({ rule: "two holders", text });
    for (const text of deniedRepeats(job)) findings.push({ rule: "repeat denied", text });
    for (const lease of job.leases) refused += refusedOf(lease);
  }
  return { refused, findings };
}

/** A renewal that comes after its own settle finds nothing either, and means nothing. */
function refusedOf({ settle, refusedRenewals }: Lease): number {
  if (settle?.answer === "settled") return 0;
  return refusedRenewals + (settle?.answer === "lost" ? 1 : 0);
}

function staleAccepted(job: JobStory): string[] {
  const found: string[] = [];
  const name = nameOf(job);
  const finished = job.leases.filter(
    ({ settle }) => settle?.answer === "settled" && FINISHING.includes(settle.kind),
  );
  if (finished.length > 1) {
    const who = finished.map(({ by, fence }) => `${by} under ${fence}`).join(" and ");
    found.push(`${name} was ended more than once: by ${who}`);
  }
  const result = resultOf(job.stored);
  if (result) {
    const later = job.runs.find(({ fence }) => fence > result.fence);
    if (later) {
      found.push(`${name} keeps the result of ${result.by}, but ${later.by} had it later`);
    }
    const writer = job.runs.find(({ fence }) => fence === result.fence);
    if (writer && writer.by !== result.by) {
      found.push(`${name} keeps a result of ${result.by} under the fence of ${writer.by}`);
    }
  }
  for (const [at, lease] of job.leases.entries()) {
    const next = job.leases[at + 1];
    if (!next) continue;
    if (lease.settle?.answer === "settled" && recordOf(job, lease.fence)?.outcome === "crashed") {
      found.push(`${name}: ${lease.by} settled it (${lease.settle.kind}) when it had been reaped`);
    }
    if (lease.settle?.answer === "settled" && lease.settle.sentAt > next.at) {
      found.push(`${name}: ${lease.by} settled it (${lease.settle.kind}) when ${next.by} had it`);
    }
    if (lease.renewals.some(({ from }) => from > next.at)) {
      found.push(`${name}: ${lease.by} renewed it when ${next.by} had it`);
    }
  }
  return found;
}

/** What was stored and its answer lost must be confirmed when it is said again. */
function deniedRepeats(job: JobStory): string[] {
  const fence = resultOf(job.stored)?.fence;
  const denied = job.leases.filter(
    (lease) => lease.fence === fence && lease.settle?.answer === "lost",
  );
  return denied.map(({ by }) => `${nameOf(job)}: ${by} was told that it is lost, and it is kept`);
}

/** Leased again before the lease before had run out, and not because it was settled. */
function twoHolders(job: JobStory, { leaseMs }: Evidence): string[] {
  const found: string[] = [];
  for (const [at, lease] of job.leases.entries()) {
    const next = job.leases[at + 1];
    if (!next || wasSettledBefore(job, lease, next.at)) continue;
    const earlyMs = lease.heldFrom + leaseMs - next.at;
    if (earlyMs > SLACK_MS) {
      found.push(
        `${nameOf(job)}: ${next.by} had it ${Math.round(earlyMs)} ms before the lease of ${lease.by} ended`,
      );
    }
  }
  return found;
}
