/** Retention touches finished jobs only, and of those only the ones that are past a policy. */
import type { FinishedStatus } from "../../../packages/holdfast/src/core/job.ts";
import type { Retention } from "../../../packages/holdfast/src/core/store.ts";
import type { JobFacts } from "../facts/job-facts.ts";
import type { Court, Watcher } from "../watcher.ts";

export function retention({ book, complain }: Court): Watcher {
  const name = "retention touches finished jobs only";
  return {
    pruned(gone, count, policies) {
      if (gone.length !== count) {
        complain(name, `${count} jobs were pruned, ${gone.length} finished ones are gone`);
      }
      for (const job of gone) {
        const left = leftOf(job, gone);
        if (inForce(job, policies).some((policy) => isPast(job, policy, left))) continue;
        complain(name, `pruned although it is ${job.status} and past no policy`, job.id);
      }
    },
  };

  function isPast(job: JobFacts, policy: Retention, left: number): boolean {
    const { olderThanMs, keep } = policy;
    const ageMs = book.clock.now - (job.finishedAt ?? Infinity);
    return (olderThanMs !== null && ageMs >= olderThanMs) || (keep !== null && left >= keep);
  }

  /** How many of its queue and status are still there. */
  function leftOf(job: JobFacts, gone: readonly JobFacts[]): number {
    const before = book.queue(job.queue).finished[job.status as FinishedStatus]?.size ?? 0;
    const alike = gone.filter(({ queue, status }) => queue === job.queue && status === job.status);
    return before - alike.length;
  }
}

/** A queue's own policies for a status, else the general ones. */
function inForce(job: JobFacts, policies: readonly Retention[]): readonly Retention[] {
  const ofStatus = policies.filter(({ status }) => status === job.status);
  const own = ofStatus.filter(({ queue }) => queue === job.queue);
  return own.length > 0 ? own : ofStatus.filter(({ queue }) => queue === null);
}
