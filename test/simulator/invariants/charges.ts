/**
 * Nobody is charged for what it did not do. A lease that runs out counts as a crash, and three of those
 * are poison; so a process that lives and reaches the store must not let one run out. Two halves:
 *
 * - What was leased in a reply that got lost, and never started, is charged only if its process was not
 *   heard of again: whoever asks the same queue for jobs anew has disowned them first. What it disowns under
 *   another name says nothing: it does that once more, later, for leases that were long on their way.
 * - What does run is renewed, or handed back. A process renews all it has every `renewMs`, in one call
 *   after another: what waits goes with the next. So if it sent a renewal (and had it answered, in the
 *   last lease length) longer than that after it last spoke of this job, it has let go of the job. Only a
 *   process that was frozen may (it has missed the end of its lease), or one that stops (it gives up in
 *   the end). What is settled in an open transaction is not renewed; from its rollback on it is again.
 *
 * Where the queues lie on several servers, each of them has calls of its own: there what is heard of one queue says
 * nothing of another.
 *
 * Nothing is said of what waits in a process when it dies, or of renewals that were sent and got lost.
 */
import { attemptKey, type AttemptsCall, type Court, type Watcher } from "../watcher.ts";

const MOST_REMEMBERED = 3_000;

/** A lease as its process sees it. */
interface Hold {
  readonly fence: number;
  readonly queue: string;
  readonly leasedAt: number;
  /** Null: its process has not heard of it. */
  grantedAt: number | null;
  /** From then on it must be renewed; Infinity while it is settled in an open transaction. */
  freeAt: number;
  /** When a renewal or settle of it left last. */
  askedAt: number;
}

interface ProcessFacts {
  /** The last answer to `lease` by queue, and to `disown` by queue and name. */
  readonly leasedAt: Map<string, number>;
  /** Infinity while it is frozen. */
  frozenUntil: number;
  isOver: boolean;
  /** When the last renewal left that has been answered: by queue on several servers, else of all. */
  readonly renewedAt: Map<string, number>;
}

export function chargedRightly(court: Court): Watcher {
  const { book, leaseMs, renewMs, hasSeveralServers, now, complain } = court;
  const name = "nobody is charged for what it did not do";
  const holds = new Map<string, Hold>();
  const processes = new Map<string, ProcessFacts>();

  function serverOf(queue: string): string {
    return hasSeveralServers ? queue : "";
  }

  function processOf(process: string): ProcessFacts {
    let known = processes.get(process);
    if (!known) {
      const never = -Infinity;
      known = { leasedAt: new Map(), frozenUntil: never, isOver: false, renewedAt: new Map() };
      remember(processes, process, known);
    }
    return known;
  }

  /** A process that got its answers had the means to say what it has, and what it has not. */
  function whyNot(
    hold: Hold,
    process: ProcessFacts,
    { worker, hasStarted }: { readonly worker: string; readonly hasStarted: boolean },
  ): string | null {
    if (!hasStarted) {
      const since = [hold.queue, under(worker, hold.queue)];
      const leasedAt = Math.max(...since.map((key) => process.leasedAt.get(key) ?? -Infinity));
      if (hold.grantedAt !== null || leasedAt <= hold.leasedAt) return null;
      return "its lease was never heard of, and its process has leased again since";
    }
    if (process.isOver || process.frozenUntil >= hold.leasedAt) return null;
    const renewedAt = process.renewedAt.get(serverOf(hold.queue)) ?? -Infinity;
    const isInContact = renewedAt >= now() - leaseMs;
    const spokenOfAt = Math.max(hold.askedAt, hold.grantedAt ?? Infinity, hold.freeAt);
    if (!isInContact || renewedAt <= spokenOfAt + renewMs + 1) return null;
    return "its process lives and renews other jobs, but neither renewed it nor handed it back";
  }

  return {
    leased({ id, fence, queue }) {
      holds.delete(id);
      const never = -Infinity;
      const hold = {
        fence,
        queue,
        leasedAt: now(),
        grantedAt: null,
        freeAt: never,
        askedAt: never,
      };
      remember(holds, id, hold);
    },
    granted({ jobId, fence }) {
      const hold = holds.get(jobId);
      if (hold?.fence === fence) hold.grantedAt ??= now();
    },
    transaction({ jobId, fence }, what) {
      const hold = holds.get(jobId);
      if (hold?.fence === fence) hold.freeAt = what === "opened" ? Infinity : now();
    },
    asked({ attempts }) {
      for (const key of attempts) {
        const hold = holds.get(jobOf(key));
        if (hold && attemptKey({ jobId: jobOf(key), fence: hold.fence }) === key) {
          hold.askedAt = now();
        }
      }
    },
    heard({ verb, process, attempts, sentAt }: AttemptsCall) {
      if (verb !== "renew") return;
      const { renewedAt } = processOf(process);
      for (const key of attempts) {
        const server = serverOf(holds.get(jobOf(key))?.queue ?? "");
        renewedAt.set(server, Math.max(renewedAt.get(server) ?? -Infinity, sentAt));
      }
    },
    answered(verb, process, { queues, disowned }) {
      if (verb !== "lease" && verb !== "disown") return;
      const { leasedAt } = processOf(process);
      for (const queue of queues) {
        leasedAt.set(disowned === null ? queue : under(disowned, queue), now());
      }
    },
    froze(process) {
      processOf(process).frozenUntil = Infinity;
    },
    thawed(process) {
      processOf(process).frozenUntil = now();
    },
    stopping(process) {
      processOf(process).isOver = true;
    },
    died({ process }) {
      processOf(process).isOver = true;
    },
    reaped({ id, charged }) {
      const job = book.jobs.get(id);
      const hold = holds.get(id);
      if (!charged || !job?.lease || hold?.fence !== job.lease.fence) return;
      const hasStarted = job.startedFences.has(hold.fence);
      const { worker } = job.lease;
      const why = whyNot(hold, processOf(job.lease.process), { worker, hasStarted });
      if (why) complain(name, `charged with a crash: ${why}`, id);
    },
  };
}

function under(worker: string, queue: string): string {
  return `${worker} ${queue}`;
}

function jobOf(key: string): string {
  return key.slice(0, key.lastIndexOf("@"));
}

function remember<Value>(memory: Map<string, Value>, key: string, value: Value): void {
  memory.set(key, value);
  if (memory.size > MOST_REMEMBERED) memory.delete(memory.keys().next().value!);
}
