/**
 * Execution locks, seen from outside: while one job of a scope runs under its lock no other one starts under it,
 * and no job is skipped unless its work is done, or was being done while it asked.
 */
import type { SkippedResult } from "../../../packages/holdfast/src/control/locks/skipped-result.ts";
import type { LockedPayload } from "../contracts.ts";
import { isHolder } from "../facts/holder.ts";
import type { JobFacts } from "../facts/job-facts.ts";
import type { Court, Run, Watcher } from "../watcher.ts";
import { Waking } from "./waking.ts";

export function oneRunPerScope(court: Court): Watcher {
  const { book, complain } = court;
  const waking = new Waking(court);
  /** By scope: what started under the lock and may still run. */
  const runs = new Map<string, readonly Run[]>();
  const lockless = new Set<string>();
  return {
    ...waking.watcher,
    ranLockless: (jobId, process) => void lockless.add(`${jobId} ${process}`),
    handlerStarted(run) {
      const work = workOf(book.jobs.get(run.jobId));
      if (!work) return;
      const isTold = lockless.delete(`${run.jobId} ${run.process}`);
      const isLockless = isTold || waking.isWaking(run.process);
      const going = (runs.get(work.scope) ?? []).filter((one) =>
        isHolder(book.jobs.get(one.jobId), one.fence),
      );
      const other = going.find(({ jobId }) => jobId !== run.jobId);
      if (other && !isLockless) {
        const message = `two jobs of scope ${work.scope} run at once, the other in ${other.process}`;
        complain("work of one scope runs once at a time", message, run.jobId);
      }
      runs.set(work.scope, isLockless ? going : [...going, run]);
    },
  };
}

interface Try {
  readonly jobId: string;
  readonly leasedAt: number;
  endedAt: number;
}

export function skippedIsDone({ book, now, complain }: Court): Watcher {
  const name = "no work is skipped that is not done";
  const tries = new Map<string, Try[]>();
  /** By scope and version. */
  const done = new Set<string>();
  const end = (job: JobFacts | undefined) => {
    const work = workOf(job);
    for (const one of (work && tries.get(work.scope)) ?? []) {
      if (one.jobId === job?.id) one.endedAt = Math.min(one.endedAt, now());
    }
  };
  return {
    leased({ id }) {
      const work = workOf(book.jobs.get(id));
      if (!work) return;
      const one = { jobId: id, leasedAt: now(), endedAt: Infinity };
      tries.set(work.scope, [...(tries.get(work.scope) ?? []), one]);
    },
    settled({ id, fence, outcome }, result) {
      const job = book.jobs.get(id);
      const work = workOf(job);
      if (result !== "settled" || !work || !isHolder(job, fence)) return;
      const why = outcome.kind === "succeed" ? skippedAs(outcome.result) : null;
      const of = tries.get(work.scope) ?? [];
      if (why === "already_completed" && !done.has(`${work.scope} ${work.version}`)) {
        complain(name, `skipped as done, and no job has done ${work.scope}`, id);
      } else if (why === "already_running") {
        const own = of.findLast(({ jobId }) => jobId === id);
        const isDoneByOther = of.some(
          // Of a job that is gone only its lock is known: then that counts, until it is stale.
          ({ jobId, endedAt }) =>
            jobId !== id && (endedAt >= (own?.leasedAt ?? 0) || !book.jobs.has(jobId)),
        );
        if (!isDoneByOther) complain(name, `skipped, and no other job runs ${work.scope}`, id);
      } else if (outcome.kind === "succeed" && why === null) {
        done.add(`${work.scope} ${work.version}`);
      }
      end(job);
    },
    reaped: ({ id }) => end(book.jobs.get(id)),
    disowned: (_request, taken) => taken.forEach(end),
    calmed: () => tries.clear(),
  };
}

function workOf(job: JobFacts | undefined): LockedPayload | null {
  return job?.type === "locked" ? (JSON.parse(job.payload) as LockedPayload) : null;
}

function skippedAs(result: string | null): SkippedResult["skipped"] | null {
  return result === null ? null : ((JSON.parse(result) as SkippedResult).skipped ?? null);
}
