/**
 * Leases: one holder at a time, only of jobs that are there and due, under a fence that only grows;
 * a handler runs only under a lease that has not run out; and nothing a stale worker says is taken.
 */
import { expectedSettle } from "../facts/apply-end.ts";
import { expectedRenewal } from "../facts/apply-lease.ts";
import { isHolder } from "../facts/holder.ts";
import { attemptKey, type Court, type Watcher } from "../watcher.ts";
import { Beliefs } from "./beliefs.ts";
import { Recent } from "./recent.ts";

export function oneHolder({ book, complain }: Court): Watcher {
  return {
    leased(leased) {
      const { id } = leased;
      const job = book.jobs.get(id);
      if (!job) {
        const was = book.gone.has(id) ? "is gone" : "was never stored";
        complain("the store shows what happened", `leased a job that ${was}`, id);
      } else if (job.status === "processing") {
        const { worker } = job.lease!;
        complain("one holder at a time", `leased while ${worker} holds it`, id);
      } else if (job.status === "cancelled") {
        complain("a cancel is kept", "leased after it was cancelled", id);
      } else if (job.status !== "queued") {
        complain("one holder at a time", `leased although it is ${job.status}`, id);
      } else if (job.runAt > book.clock.now) {
        complain("no job is early", `leased ${job.runAt - book.clock.now} ms too early`, id);
      }
    },
  };
}

export function fenceGrows({ book, complain }: Court): Watcher {
  return {
    leased({ id, fence }) {
      const job = book.jobs.get(id);
      if (job && fence <= job.fence) {
        complain("the fence only grows", `fence ${fence} after ${job.fence}`, id);
      } else if (fence < book.clock.micros) {
        complain("the fence only grows", `fence ${fence} is behind the store's clock`, id);
      }
    },
  };
}

export function noStaleWrite({ book, complain }: Court): Watcher {
  const name = "no stale write is accepted";
  return {
    renewed(renewal, result) {
      const expected = expectedRenewal(book, renewal);
      if (result === expected) return;
      const { id, fence } = renewal;
      if (expected === "lost") {
        complain(name, `a renewal under fence ${fence} was taken: ${result}`, id);
      } else if (result === "lost") {
        complain(name, `the holder's renewal under fence ${fence} was refused`, id);
      } else {
        complain("a cancel is kept", `a renewal was answered ${result}, not ${expected}`, id);
      }
    },
    settled(settlement, result) {
      const expected = expectedSettle(book, settlement);
      if (result === expected) return;
      const { id, fence, outcome } = settlement;
      const what = `"${outcome.kind}" under fence ${fence}`;
      if (expected === "lost") complain(name, `${what} was taken from a stale worker`, id);
      else complain(name, `${what} was refused, although its holder said it`, id);
    },
  };
}

export function runsUnderLease({ book, complain }: Court): Watcher {
  const name = "nothing runs without a lease";
  return {
    handlerStarted({ jobId, fence, process }) {
      const job = book.jobs.get(jobId);
      if (!job || !isHolder(job, fence)) {
        complain(name, `a handler started under fence ${fence}, which holds nothing`, jobId);
      } else if (job.lease!.process !== process) {
        complain(name, `a handler started in ${process}, which does not hold the job`, jobId);
      } else if (job.lease!.until <= book.clock.peek()) {
        complain(name, "a handler started after its lease had run out", jobId);
      } else if (job.startedFences.has(fence)) {
        complain(name, `two handlers started under fence ${fence}`, jobId);
      }
    },
  };
}

/**
 * Past the last acknowledged lease or renewal a handler is told, by its own clock alone. One that goes on
 * through outages is told when the store has said so. Of one that settled in a transaction of its own only
 * the database can tell what became of it.
 */
export function lostIsTold(court: Court): Watcher {
  const { book, now, goesOnThroughOutages, complain } = court;
  const beliefs = new Beliefs(court, "counts");
  const lost = new Recent<string>();
  const inTransactions = new Recent<string>();
  const patient = new Recent<string>();
  return {
    granted: (run, sentAt) => beliefs.granted(run, sentAt),
    handlerStarted(run) {
      const { type = "" } = book.jobs.get(run.jobId) ?? {};
      if (goesOnThroughOutages(type)) patient.add(attemptKey(run));
    },
    toldLost: (run) => lost.add(attemptKey(run)),
    transaction: (run) => inTransactions.add(attemptKey(run)),
    acted(run, isAborted) {
      if (isAborted || inTransactions.has(attemptKey(run))) return;
      if (lost.has(attemptKey(run))) {
        const message = "a handler goes on untold after its process heard that its lease is lost";
        complain("a lost lease is told", message, run.jobId);
      }
      if (patient.has(attemptKey(run))) return;
      const lateMs = now() - beliefs.endsAt(run);
      if (lateMs <= 1 || lateMs === Infinity) return;
      const message = `a handler goes on ${Math.round(lateMs)} ms after its lease was lost, untold`;
      complain("a lost lease is told", message, run.jobId);
    },
  };
}
