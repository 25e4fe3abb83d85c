/** What the store shows is what happened: no job is lost, none is more or less than the facts. */
import type { JobSummary, StoredJob } from "../../../packages/holdfast/src/core/job.ts";
import type { QueueCounts } from "../../../packages/holdfast/src/core/store.ts";
import type { JobFacts } from "../facts/job-facts.ts";
import { expectedOperation } from "../facts/apply-operate.ts";
import type { Court, Watcher } from "../watcher.ts";

export function shown({ book, complain }: Court): Watcher {
  const name = "the store shows what happened";
  return {
    looked(id, found) {
      const job = book.jobs.get(id);
      if (!job) {
        if (typeof found === "object" && found !== null) {
          complain(
            name,
            `a job is there that ${book.gone.has(id) ? "was deleted" : "nobody stored"}`,
            id,
          );
        }
        return;
      }
      if (typeof found !== "object" || found === null) {
        complain("no job is lost", `it is ${job.status}, but the store has it no more`, id);
        return;
      }
      const wrong = differenceOf(job, found);
      if (wrong) complain(wrong.name, wrong.message, id);
    },
    operated(id, operation, result) {
      const job = book.jobs.get(id);
      const expected = job ? expectedOperation(job, operation) : "missing";
      if (result === expected) return;
      complain(name, `${operation.verb} answered ${result}, not ${expected}`, id);
    },
    counted(counts) {
      for (const { retrying: _, oldestReadyAt: __, ...numbers } of counts) {
        const queue = book.queue(numbers.queue);
        let ready = 0;
        for (const line of queue.lines.values()) ready += line.ready.size;
        const wanted = {
          queue: numbers.queue,
          ready,
          delayed: queue.delayed.size,
          processing: queue.active,
          succeeded: queue.finished.succeeded.size,
          dead: queue.finished.dead.size,
          cancelled: queue.finished.cancelled.size,
        };
        const [got, want] = [JSON.stringify(numbers), JSON.stringify(wanted)];
        if (got === want) continue;
        const isLess = unfinished(numbers) < unfinished(wanted);
        complain(isLess ? "no job is lost" : name, `counts ${got}, the facts say ${want}`);
      }
    },
  };
}

function unfinished({
  ready,
  delayed,
  processing,
}: Pick<QueueCounts, "ready" | "delayed" | "processing">): number {
  return ready + delayed + processing;
}

function differenceOf(job: JobFacts, found: StoredJob | JobSummary) {
  if (found.status !== job.status) {
    const name = job.status === "cancelled" ? "a cancel is kept" : "the store shows what happened";
    return { name, message: `shown as ${found.status}, it is ${job.status}` } as const;
  }
  if (found.attempts !== job.attempts || found.maxAttempts !== job.maxAttempts) {
    const shownAs = `${found.attempts} of ${found.maxAttempts}`;
    const message = `shown with attempt ${shownAs}, it is ${job.attempts} of ${job.maxAttempts}`;
    return { name: "attempts are counted by the rules", message } as const;
  }
  if (found.crashes !== job.crashes) {
    const message = `shown with ${found.crashes} crashes, there were ${job.crashes}`;
    return { name: "crashes are counted by the rules", message } as const;
  }
  if (found.fence < job.fence) {
    const message = `shown with fence ${found.fence} after ${job.fence}`;
    return { name: "the fence only grows", message } as const;
  }
  if (found.cancelAsked !== job.cancelAsked) {
    const message = `shown with cancelAsked ${found.cancelAsked}`;
    return { name: "a cancel is kept", message } as const;
  }
  if (found.runAt !== job.runAt) {
    const message = `shown as due at ${found.runAt}, it is ${job.runAt}`;
    return { name: "the store shows what happened", message } as const;
  }
  // Only a whole job shows it; a page of many does not.
  if ("checkpoint" in found && found.checkpoint !== job.checkpoint) {
    const message = `shown with checkpoint ${found.checkpoint}, ${job.checkpoint} is stored`;
    return { name: "what was saved comes back", message } as const;
  }
  return null;
}
