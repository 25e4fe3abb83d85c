/**
 * How long the jobs of a killed worker were out of reach: from the kill until somebody had put them
 * back into their lines. When they are leased again depends on who else waits there, so that is
 * told and not judged.
 *
 * The promise is one lease plus two seconds, and it has conditions. The clock stands still
 *  - while nobody could write to the store: a process was stopped with its write lock, or the
 *    server was away;
 *  - while the server keeps a transaction open whose client was killed, if that has the job: then its
 *    holder's jobs beside it must be put back, and this one when the server has ended the transaction;
 *  - once the lease is over, until somebody is there who may reap: a worker that has been in touch
 *    with the store for one lease length, and goes on for the second that a reaper takes.
 */
import { frozenSpans, isInAftermath } from "./cause.ts";
import { nameOf, type Evidence, type Finding } from "./evidence.ts";
import type { ProcessStory } from "./process-story.ts";
import type { Span } from "./span.ts";

export interface Recovery {
  /** Jobs that were leased by a worker when it was killed, and had to be leased again. */
  readonly jobs: number;
  /** From the kill until they could be leased, where the clock did not stand still. */
  readonly leasable: Times;
  /** For how many it did, and the longest of them by an ordinary clock. */
  readonly delayed: { readonly jobs: number; readonly maxMs: number };
  /** The worst of all, with the clock standing still as above. */
  readonly judgedMaxMs: number;
  /** From the kill until they were leased. */
  readonly leased: Times;
  readonly boundMs: number;
  readonly findings: readonly Finding[];
}

export interface Times {
  readonly p50Ms: number;
  readonly maxMs: number;
}

/** A reaper looks about every second. */
const REAP_MS = 1_200;

export interface RecoveryOptions {
  readonly boundMs: number;
  /** How long the server keeps a transaction open whose client is gone. */
  readonly transactionMs: number;
}

export function judgeRecovery(evidence: Evidence, options: RecoveryOptions): Recovery {
  const { boundMs, transactionMs } = options;
  const findings: Finding[] = [];
  const leasable: number[] = [];
  const leased: number[] = [];
  const delayed: number[] = [];
  let judgedMaxMs = 0;
  const expectedAt = expectations(evidence);
  for (const job of evidence.jobs.values()) {
    for (const [at, lease] of job.leases.entries()) {
      const killedAt = evidence.processes.get(lease.by)?.killedAt ?? null;
      const next = job.leases[at + 1];
      if (killedAt === null || !next || next.at < killedAt) continue;
      // It had been stopped before, and lost the job then.
      if (lease.reapedAt !== null && lease.reapedAt < killedAt) continue;
      // It was decided before the kill: what brought it back was not a reaper.
      if (lease.settle !== null && lease.settle.answer !== "lost") continue;
      // A reaper that is killed itself may not have told: then the next lease tells.
      const leasableAt = Math.min(lease.reapedAt ?? Infinity, next.at);
      const isWithin = job.runs.some(({ fence, isWithin: is }) => fence === lease.fence && is);
      // The lease is over long before the transaction is.
      const heldBackMs = isWithin ? Math.max(0, transactionMs - evidence.leaseMs) : 0;
      const expected = expectedAt(killedAt + heldBackMs);
      const stoodStillMs = expected - killedAt - evidence.leaseMs;
      const outOfReachMs = leasableAt - killedAt;
      const judgedMs = outOfReachMs - stoodStillMs;
      (stoodStillMs > 0 ? delayed : leasable).push(outOfReachMs);
      leased.push(next.at - killedAt);
      judgedMaxMs = Math.max(judgedMaxMs, judgedMs);
      if (judgedMs <= boundMs) continue;
      const text = `${nameOf(job)} of ${lease.by} was out of reach for ${Math.round(judgedMs)} ms`;
      findings.push({ rule: "recovered too late", text });
    }
  }
  const times = { leasable: timesOf(leasable), leased: timesOf(leased) };
  return {
    jobs: leased.length,
    ...times,
    delayed: { jobs: delayed.length, maxMs: timesOf(delayed).maxMs },
    ...{ judgedMaxMs, boundMs, findings },
  };
}

export function timesOf(values: readonly number[]): Times {
  const sorted = [...values].sort((a, b) => a - b);
  return { p50Ms: sorted[Math.floor(sorted.length / 2)] ?? 0, maxMs: sorted.at(-1) ?? 0 };
}

/** For a kill: when the leases of that worker were over and somebody was there to see it. */
function expectations(evidence: Evidence): (killedAt: number) => number {
  const { leaseMs, processes } = evidence;
  const frozen = [...frozenSpans(evidence), ...evidence.outages];
  const workers = [...processes.values()].filter(({ role }) => role === "worker");
  return (killedAt) => {
    // After a time without the store everybody may renew first: the whole lease counts again.
    let countedFrom = killedAt;
    for (const span of frozen) {
      if (span.from < countedFrom + leaseMs && span.to > countedFrom) countedFrom = span.to;
    }
    const overAt = countedFrom + leaseMs;
    const times = workers.flatMap((worker) => reapingTimes(worker, overAt));
    return times.length === 0 ? overAt : Math.min(...times);
  };

  /** The moments from `overAt` on at which this worker begins to be one who may reap. */
  function reapingTimes(worker: ProcessStory, overAt: number): number[] {
    const { upAt, stops, cutOffs } = worker;
    if (upAt === null) return [];
    const breaks = [...stops, ...frozen, ...cutOffs, ...breaksInTrouble(evidence, worker)];
    const inTouchSince = [upAt, ...breaks.map(({ to }) => to).filter((at) => at > upAt)];
    return inTouchSince
      .map((since) => Math.max(overAt, since + leaseMs))
      .filter((at) => at + REAP_MS < lastMoment(worker) && !breaks.some(breaksTouch(at)));
  }

  /** Every break ends a little after the moment it is compared with, or is none. */
  function breaksTouch(at: number): (span: Span) => boolean {
    return ({ from, to }) => from < at + REAP_MS && to > at - leaseMs + 1;
  }
}

/**
 * A call that fails breaks the touch, and it begins again with the next answer: a driver may find a server
 * some time after it is back. That counts if there was a reason for it to fail.
 */
function breaksInTrouble({ outages }: Evidence, worker: ProcessStory): Span[] {
  const { failures, silences } = worker;
  const troubles = [...worker.stops, ...worker.cutOffs, ...outages];
  const isInTrouble = ({ to }: Span) => troubles.some((trouble) => isInAftermath(trouble, to));
  return [...failures, ...silences].filter(isInTrouble);
}

/** It works until it is killed, asked to stop or gone. */
export function lastMoment({ killedAt, terminatedAt, exitedAt }: ProcessStory): number {
  return Math.min(killedAt ?? Infinity, terminatedAt ?? Infinity, exitedAt ?? Infinity);
}
