/**
 * Jobs whose handler ran more than once. That is allowed, at least once is the promise, but each
 * extra run needs a reason: the one before failed, was given back, or was cut off. And two runs at
 * the same time need more: only a holder that stood still may be overtaken.
 */
import { causeOf, CAUSES, type Cause } from "./cause.ts";
import { nameOf, type Evidence, type Finding, type JobStory, type Run } from "./evidence.ts";

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
      } else {
        explained[cause] += 1;
      }
      if (!isOverlapping(evidence, run, next)) continue;
      overlapping += 1;
      if (cause === "failed" || cause === "given back" || cause === "kill") {
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
  const span = { from: run.startAt, to: next.startAt };
  return causeOf(evidence, job, { id: job.id, fence: run.fence, by: run.by, span });
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
