/**
 * Only the culprit becomes poison. A suspect is a job one crash away from it. A worker runs one suspect at
 * a time beside its other jobs; the others wait, and what waits is not charged. So when a suspect kills
 * its process, no other suspect in the same hands is pushed over the edge: whether it was there when the
 * culprit started, or was leased while it ran.
 *
 * What the rule does not promise: a job on its first crash may take a suspect that runs with it (a first
 * crash costs nobody any concurrency), and a suspect that has lived for ten seconds is trusted: from then
 * on the next one runs beside it.
 */
import { isHolder } from "../facts/holder.ts";
import { attemptKey, type Court, type Run, type Watcher } from "../watcher.ts";
import { Beliefs } from "./beliefs.ts";

const MOST_REMEMBERED = 2_000;
const TRUSTED_AFTER_MS = 10_000;

export function onlyTheCulprit(court: Court): Watcher {
  const { book, maxCrashes, now, complain } = court;
  const name = "only the culprit becomes poison";
  const beliefs = new Beliefs(court, "is too late");
  /** By the attempt of a suspect: when its process had it, before which it cannot have begun. */
  const grantedAt = new Map<string, number>();
  /** By attempt: which process died while it was in its hands, by another suspect's deed. */
  const victims = new Map<string, string>();

  function isSuspect({ jobId, fence }: Run): boolean {
    const lease = book.jobs.get(jobId)?.lease;
    return lease?.fence === fence && lease.crashes === maxCrashes - 1;
  }

  /** The other suspects in its process's hands, without those that it may have come to trust. */
  function besides(run: Run): Run[] {
    return [...book.processing].flatMap(({ id, lease }) => {
      if (id === run.jobId || lease?.process !== run.process) return [];
      const other = { jobId: id, fence: lease.fence, process: run.process };
      const isTrusted = now() - (grantedAt.get(attemptKey(other)) ?? now()) >= TRUSTED_AFTER_MS;
      // What the worker has given up will run out whatever it does.
      const isHeld = now() < beliefs.endsAt(other);
      return isSuspect(other) && isHeld && !isTrusted ? [other] : [];
    });
  }

  return {
    granted(run, sentAt) {
      beliefs.granted(run, sentAt);
      const key = attemptKey(run);
      if (isSuspect(run) && !grantedAt.has(key)) remember(grantedAt, key, now());
    },
    handlerStarted(run) {
      const job = book.jobs.get(run.jobId);
      if (job && job.crashes >= maxCrashes) {
        complain(name, `a handler started after ${job.crashes} crashes`, run.jobId);
      }
      if (!isSuspect(run)) return;
      const running = besides(run).find(({ jobId, fence }) =>
        book.jobs.get(jobId)?.startedFences.has(fence),
      );
      if (running) complain(name, "two suspects run at once in one process", running.jobId);
    },
    died({ process, killer }) {
      if (!killer || !isSuspect(killer)) return;
      for (const other of besides(killer)) remember(victims, attemptKey(other), process);
    },
    reaped({ id, crashes, charged }) {
      const job = book.jobs.get(id);
      if (!job?.lease || !charged || crashes !== maxCrashes) return;
      const process = victims.get(attemptKey({ jobId: id, fence: job.lease.fence }));
      if (process === undefined) return;
      const had = job.startedFences.has(job.lease.fence) ? "had run beside it" : "never started";
      complain(
        name,
        `pushed over the edge by another suspect, which killed ${process}; it ${had}`,
        id,
      );
    },
    settled({ id, fence, outcome }, result) {
      const job = book.jobs.get(id);
      if (outcome.kind !== "die" || outcome.ran || result === "lost") return;
      if (!isHolder(job, fence)) return;
      if (outcome.reason === "poison" && job.crashes < maxCrashes) {
        complain(name, `poison after ${job.crashes} crashes`, id);
      } else if (outcome.reason === "crashed" && job.lease?.spent !== 0) {
        complain("attempts are counted by the rules", "dead as crashed with attempts left", id);
      }
    },
  };
}

function remember<Value>(memory: Map<string, Value>, key: string, value: Value): void {
  memory.set(key, value);
  if (memory.size > MOST_REMEMBERED) memory.delete(memory.keys().next().value!);
}
