/**
 * Jobs whose handler ran more than once. That is allowed, at least once is the promise, but each
 * extra run needs a reason: the one before failed, was given back, or was cut off. And two runs at
 * the same time need more: only a holder that stood still may be overtaken. One that cannot reach the
 * store lets go by its own clock before anybody else may begin, unless its handler does not hear it.
 *
 * An outage of the store is no reason to run what had already ended: its outcome was decided in time
 * and waits for the store to come back.
 */
import { endsAtOnce } from "../contracts.ts";
import { causeOf, CAUSES, type Cause } from "./cause.ts";
import { heldFromAt, leaseOf, nameOf, trustedMs } from "./evidence.ts";
import type { Evidence, Finding, JobStory, Run } from "./evidence.ts";

/** Between the last line of a handler and what its worker makes of it. */
const LAST_MOMENT_MS = 100;

export interface Duplicated {
  readonly runs: number;
  /** Runs beyond the first of their job, by what explains them. */
  readonly explained: Readonly<Record<Cause, number>>;
  /** Of those, runs that began while the one before still went on. */
  readonly overlapping: number;
  readonly findings: readonly Finding[];
}

export interface DuplicatedOptions {
  /** With a lease of a second, a busy machine alone may take one away. With ten it may not. */
  readonly forgiveStalls: boolean;
}

export function judgeDuplicated(evidence: Evidence, options: DuplicatedOptions): Duplicated {
  const findings: Finding[] = [];
  const explained = Object.fromEntries(CAUSES.map((cause) => [cause, 0])) as Record<Cause, number>;
  let runs = 0;
  let overlapping = 0;
  for (const job of evidence.jobs.values()) {
    runs += job.runs.length;
    for (const [at, run] of job.runs.entries()) {
      const next = job.runs[at + 1];
      if (!next) continue;
      const cause = causeOfRun(evidence, job, run, next);
      if (cause === null || (cause === "stall" && !options.forgiveStalls)) {
        findings.push({
          rule: "duplicated, unexplained",
          text: `${nameOf(job)} ran again at ${next.by} although ${said(job, run)}`,
        });
      } else if (cause === "outage" && endedInTime(evidence, job, run)) {
        findings.push({
          rule: "run twice by an outage",
          text: `${nameOf(job)} ran again at ${next.by} although ${run.by} had brought it to an end`,
        });
      } else {
        explained[cause] += 1;
      }
      if (!isOverlapping(evidence, run, next)) continue;
      overlapping += 1;
      if (cause !== null && mustHaveEnded(cause, run)) {
        findings.push({
          rule: "overlapping, unexplained",
          text: `${nameOf(job)} began at ${next.by} while it still ran at ${run.by} (${cause})`,
        });
      }
    }
  }
  return { runs, explained, overlapping, findings };
}

function causeOfRun(evidence: Evidence, job: JobStory, run: Run, next: Run): Cause | null {
  // What kept the answer of the lease from its worker took time of the lease, too.
  const from = leaseOf(job, run.fence)?.askedAt ?? run.startAt;
  const span = { from, to: next.startAt };
  return causeOf(evidence, job, { id: job.id, fence: run.fence, by: run.by, span });
}

function mustHaveEnded(cause: Cause, { type, how }: Run): boolean {
  switch (cause) {
    case "failed":
    case "kill":
      return true;
    case "given back":
      // Out of touch for a lease, a worker gives back what it let go of, and its handler may not have heard yet.
      return how !== "aborted" || endsAtOnce(type);
    case "cut off":
    case "outage":
      return endsAtOnce(type);
    case "stop":
    case "store frozen by a stop":
    case "stall":
      return false;
  }
}

/** Its handler had ended when the worker still trusted the lease: surely, whatever the last moments were. */
function endedInTime({ leaseMs }: Evidence, job: JobStory, run: Run): boolean {
  const lease = leaseOf(job, run.fence);
  if (!lease || run.endAt === null || run.how === "aborted") return false;
  return run.endAt < heldFromAt(lease, run.endAt) + trustedMs(leaseMs) - LAST_MOMENT_MS;
}

/** A killed process runs nothing, whatever its last line was. */
function isOverlapping({ processes }: Evidence, run: Run, next: Run): boolean {
  const endedAt = Math.min(
    run.endAt ?? Infinity,
    processes.get(run.by)?.killedAt ?? Infinity,
    processes.get(run.by)?.exitedAt ?? Infinity,
  );
  return next.startAt < endedAt;
}

function said(job: JobStory, run: Run): string {
  const settle = job.leases.find((lease) => lease.fence === run.fence)?.settle;
  if (settle) return `${run.by} had settled it (${settle.kind}, ${settle.answer ?? "no answer"})`;
  return `${run.by} was neither killed nor stopped while it ran it`;
}
