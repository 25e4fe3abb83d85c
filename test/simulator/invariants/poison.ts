/**
 * Only the culprit becomes poison. A worker runs at most one suspect at a time, that is, a job one
 * crash away from poison. So a suspect that kills its process must not push another over the edge
 * that was in the same worker's hands when it started: neither running, nor waiting in the buffer,
 * nor on its way back to the store.
 *
 * What the rule does not promise: a job on its first crash may take a suspect with it (a first crash
 * costs nobody any concurrency), and so may a suspect that was leased while another one runs, until
 * the store has it back.
 */
import { isHolder } from "../facts/holder.ts";
import { attemptKey, type Court, type Run, type Watcher } from "../watcher.ts";
import { Beliefs } from "./beliefs.ts";

const MOST_REMEMBERED = 500;

export function onlyTheCulprit(court: Court): Watcher {
  const { book, maxCrashes, now, complain } = court;
  const name = "only the culprit becomes poison";
  const beliefs = new Beliefs(court, "is too late");
  /** By the attempt of a suspect that started: the suspects that were beside it. */
  const besides = new Map<string, readonly Run[]>();
  /** By attempt: which process died while it was in its hands, by another suspect's deed. */
  const victims = new Map<string, string>();

  function suspectsIn(process: string): Run[] {
    return [...book.processing].flatMap(({ id, lease }) => {
      if (lease?.process !== process || lease.crashes !== maxCrashes - 1) return [];
      const attempt = { jobId: id, fence: lease.fence, process };
      // What the worker never heard of, or has given up, will run out whatever it does.
      return now() < beliefs.endsAt(attempt) ? [attempt] : [];
    });
  }

  return {
    granted: (run, sentAt) => beliefs.granted(run, sentAt),
    handlerStarted(run) {
      const job = book.jobs.get(run.jobId);
      if (job && job.crashes >= maxCrashes) {
        complain(name, `a handler started after ${job.crashes} crashes`, run.jobId);
      }
      if (job?.lease?.crashes !== maxCrashes - 1) return;
      const beside = suspectsIn(run.process).filter(({ jobId }) => jobId !== run.jobId);
      if (beside.length > 0) remember(besides, attemptKey(run), beside);
    },
    died({ process, killer }) {
      const beside = killer ? (besides.get(attemptKey(killer)) ?? []) : [];
      for (const other of beside) {
        if (now() < beliefs.endsAt(other)) remember(victims, attemptKey(other), process);
      }
    },
    reaped({ id, crashes }) {
      const job = book.jobs.get(id);
      if (!job?.lease || crashes !== maxCrashes) return;
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
