/** Attempts and crashes are counted by the rules, and nobody is reaped who could still renew. */
import { isCharged } from "../facts/apply-lease.ts";
import type { Court, Watcher } from "../watcher.ts";

export function attemptsCounted({ book, complain }: Court): Watcher {
  const name = "attempts are counted by the rules";
  return {
    leased(leased) {
      const { id } = leased;
      const job = book.jobs.get(id);
      if (!job) return;
      const isExhausted = job.attempts >= job.maxAttempts;
      const attempt = job.attempts + (isExhausted ? 0 : 1);
      if (leased.attempt !== attempt || leased.exhausted !== isExhausted) {
        const got = `${leased.attempt}${leased.exhausted ? ", exhausted" : ""}`;
        const want = `${attempt}${isExhausted ? ", exhausted" : ""}`;
        complain(name, `leased as attempt ${got}; the rules say ${want}`, id);
      } else if (leased.attempt > leased.maxAttempts || leased.maxAttempts !== job.maxAttempts) {
        complain(name, `attempt ${leased.attempt} of ${leased.maxAttempts}`, id);
      } else if (leased.deferrals !== job.deferrals) {
        complain(name, `${leased.deferrals} deferrals, ${job.deferrals} happened`, id);
      }
    },
    handlerStarted({ jobId, fence }) {
      const job = book.jobs.get(jobId);
      if (!job) return;
      job.startedFences.add(fence);
      job.spentStarts += 1;
      if (job.lease?.spent === 0) {
        complain(name, "a handler started although all attempts were spent", jobId);
      } else if (job.spentStarts > job.maxAttempts) {
        complain(name, `start ${job.spentStarts} of a job with ${job.maxAttempts} attempts`, jobId);
      }
    },
  };
}

export function crashesCounted({ book, complain }: Court): Watcher {
  const name = "crashes are counted by the rules";
  return {
    leased({ id, crashes }) {
      const job = book.jobs.get(id);
      if (job && job.crashes !== crashes) {
        complain(name, `leased with ${crashes} crashes, ${job.crashes} happened`, id);
      }
    },
    reaped({ id, crashes, attempts, worker, status, charged }) {
      const job = book.jobs.get(id);
      const lease = job?.lease;
      const shouldCharge = job !== undefined && isCharged(book, job);
      if (!job || !lease) {
        complain(name, `reaped although it is ${job?.status ?? "gone"}`, id);
      } else if (lease.until > book.clock.now) {
        const leftMs = lease.until - book.clock.now;
        complain("one holder at a time", `reaped ${leftMs} ms before its lease ran out`, id);
      } else if (charged !== shouldCharge) {
        complain(name, `reaped and ${charged ? "" : "not "}charged, against the rules`, id);
      } else if (crashes !== job.crashes + (charged ? 1 : 0)) {
        complain(name, `crash ${crashes} after ${job.crashes}`, id);
      } else if (attempts !== job.attempts - (charged ? 0 : lease.spent)) {
        complain("attempts are counted by the rules", `a reap left ${attempts} attempts`, id);
      } else if (worker !== lease.worker) {
        complain(name, `reaped from ${worker}, but ${lease.worker} had it`, id);
      } else if (status !== (job.cancelAsked ? "cancelled" : "queued")) {
        complain("a cancel is kept", `reaped and ${status}`, id);
      }
    },
    disowned({ worker }, taken, count) {
      if (count === taken.length) return;
      complain(name, `${worker} disowned ${taken.length} leases, ${count} went back`, taken[0]?.id);
    },
  };
}

/** The calls that live workers make too: an answer to any other says nothing about renewals. */
const CONTACT = new Set(["now", "lease", "renew", "settle", "reap", "reach"]);

/**
 * Nobody reaps before it has been in unbroken touch with the store for one lease length. A failed
 * call breaks it; so does a silence as long as a lease, which is what a frozen process has had.
 */
export function reapsInTouch({ leaseMs, now, outageEndedAt, complain }: Court): Watcher {
  const name = "nobody reaps too soon";
  const touch = new Map<string, { since: number; last: number }>();
  return {
    answered(verb, process) {
      if (!CONTACT.has(verb)) return;
      const known = touch.get(process);
      if (known && now() - known.last <= leaseMs) known.last = now();
      else touch.set(process, { since: now(), last: now() });
    },
    failed(verb, process) {
      if (CONTACT.has(verb)) touch.delete(process);
    },
    died({ process }) {
      touch.delete(process);
    },
    sent(verb, process) {
      if (verb !== "reap") return;
      const inTouchMs = now() - (touch.get(process)?.since ?? Infinity);
      const upMs = now() - (outageEndedAt() ?? -Infinity);
      if (!(inTouchMs >= leaseMs)) {
        const howLong = Number.isFinite(inTouchMs)
          ? `for ${Math.round(inTouchMs)} ms`
          : "not at all";
        complain(name, `${process} reaps, in touch with the store ${howLong}`);
      } else if (upMs < leaseMs) {
        complain(name, `${process} reaps ${Math.round(upMs)} ms after a long outage`);
      }
    },
  };
}
