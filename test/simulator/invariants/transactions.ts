/**
 * A settle in a handler's own transaction counts exactly if that commits. After a rollback the job is
 * still its holder's: it never counts as succeeded, and what its handler throws then is what counts. (That
 * it goes on being renewed is seen by `charges.ts`.)
 */
import { isHolder } from "../facts/holder.ts";
import { attemptKey, type Court, type Watcher } from "../watcher.ts";

const MOST_REMEMBERED = 2_000;

interface Settled {
  last: "opened" | "committed" | "rolled back";
  /** Its handler threw a permanent error after the rollback. */
  isPermanent: boolean;
}

export function rolledBackIsNoSuccess({ book, complain }: Court): Watcher {
  const name = "a rolled back settle is no success";
  const byAttempt = new Map<string, Settled>();
  /** By job and process: the attempt that started there last. */
  const lastRuns = new Map<string, string>();
  return {
    handlerStarted(run) {
      remember(lastRuns, `${run.jobId}/${run.process}`, attemptKey(run));
    },
    transaction(run, what) {
      remember(byAttempt, attemptKey(run), { last: what, isPermanent: false });
    },
    threwPermanent(run) {
      const settled = byAttempt.get(attemptKey(run));
      if (settled?.last === "rolled back") settled.isPermanent = true;
    },
    settled({ id, fence, outcome }, result) {
      const settled = byAttempt.get(attemptKey({ jobId: id, fence }));
      if (settled?.last !== "rolled back" || result === "lost") return;
      if (!isHolder(book.jobs.get(id), fence)) return;
      if (outcome.kind === "succeed") {
        complain(name, "settled as a success after its transaction was rolled back", id);
      }
      // A signal that aborted before counts for more: a cancel, a stop, a lost lease.
      const isTold =
        outcome.kind === "die" || outcome.kind === "cancel" || outcome.kind === "release";
      if (settled.isPermanent && !isTold) {
        complain(name, `a permanent error after the rollback was settled as ${outcome.kind}`, id);
      }
    },
    announced(jobId, ending, process) {
      const attempt = lastRuns.get(`${jobId}/${process}`);
      if (ending !== "succeeded" || attempt === undefined) return;
      if (byAttempt.get(attempt)?.last !== "rolled back") return;
      complain(
        name,
        "listeners heard that it succeeded after its transaction was rolled back",
        jobId,
      );
    },
  };
}

function remember<Value>(memory: Map<string, Value>, key: string, value: Value): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size > MOST_REMEMBERED) memory.delete(memory.keys().next().value!);
}
