/**
 * The three ways a job moves on, whoever moves it: it finishes, it goes back to its line, or it is
 * deleted. Each answers what changes; `edit.ts` writes it.
 *
 *     queued ──lease──▶ processing ──settle──▶ succeeded, dead, cancelled ──prune──▶ tombstone
 *       ▲ ▲                 │                        │
 *       │ └─settle or reap──┘                        │
 *       └──────────────────revive────────────────────┘        (a queued job may be cancelled at once)
 */
import type { FinishedStatus, JobStatus } from "../../core/job.ts";
import type { Why } from "../../core/store.ts";
import { fenceAfter } from "./clock.ts";
import type { Changes } from "./edit.ts";
import type { JobDocument, Tombstone } from "./schema.ts";
import { inLine, isSoon, NOWHERE } from "./placement.ts";
import type { Told } from "./told.ts";

const LEASE_ENDED: Changes = {
  leaseUntil: null,
  exhausted: null,
  unstarted: null,
  cancelWhy: null,
};

export interface Moment {
  readonly now: number;
  readonly told: Told;
}

export function finish(job: JobDocument, as: FinishedStatus, { now, told }: Moment): Changes {
  told.finished.push(job._id);
  if (job.status === "processing") told.roomIn.add(job.queue);
  const freed: Changes = job.dedupe?.lifetime === "until-finished" ? { k: null } : {};
  const halted = haltedBy(as);
  const ended = { status: as, halted, finishedAt: now, updatedAt: now };
  return { ...LEASE_ENDED, ...NOWHERE, ...freed, ...ended };
}

export function haltedBy(status: JobStatus): JobStatus | null {
  return status === "dead" || status === "cancelled" ? status : null;
}

/** By a person's wish, or the handler's own (then nobody's name is in `by`). */
export function endCancelled(job: JobDocument, why: Why, moment: Moment): Changes {
  return { ...finish(job, "cancelled", moment), reason: why.reason, by: why.by };
}

/** Back to its place in line, or among the later ones until `runAt`. */
export function requeue(job: JobDocument, runAt: number, { now, told }: Moment): Changes {
  if (isSoon({ runAt, now })) told.queues.add(job.queue);
  if (job.status === "processing") told.roomIn.add(job.queue);
  return {
    ...LEASE_ENDED,
    ...inLine(job.queue, { runAt, now }),
    status: "queued",
    runAt,
    halted: null,
    finishedAt: null,
    updatedAt: now,
  };
}

/** What this lease added is taken back: an exhausted one added nothing. */
export function attemptsBefore({ attempts, exhausted }: JobDocument): number {
  return attempts - (exhausted === true ? 0 : 1);
}

/** The lease is over without an outcome. A job whose cancellation was asked for has nobody to hear it. */
export function putBack(job: JobDocument, moment: Moment): Changes {
  const { runAt, cancelWhy } = job;
  return cancelWhy == null ? requeue(job, runAt, moment) : endCancelled(job, cancelWhy, moment);
}

/**
 * Back to its place as if nobody had leased it: the attempt is given back, and the fence moves on, or its
 * holder, if there is one after all, would still be heard.
 */
export function takeBack(job: JobDocument, moment: Moment): Changes {
  const fence = fenceAfter(job.fence, moment.now);
  return { ...putBack(job, moment), attempts: attemptsBefore(job), fence };
}

/**
 * Deletes the job and remembers its id and its last settle. A key with a time of its own stays, and
 * then the id is remembered as long as the key: a duplicate is told that id.
 */
export function bury(
  job: JobDocument,
  { now, remembersMs }: { readonly now: number; readonly remembersMs: number },
): Omit<Tombstone, "v"> {
  const { ids, k, kx, dedupe, followUps, from, settledFence } = job;
  const keeps = k != null && kx != null && dedupe != null;
  const gone = Math.max(now + remembersMs, keeps ? kx : 0);
  return {
    _id: job._id,
    gone,
    ...(ids == null ? {} : { ids }),
    ...(settledFence == null ? {} : { settledFence }),
    ...(keeps ? { k, kx, hash: dedupe.hash } : {}),
    ...(followUps == null ? {} : { followUps }),
    ...(from == null ? {} : { from }),
  };
}

/** What is still remembered of a deleted job; null for one that is kept, or forgotten. */
export function isRemembered({ gone }: Tombstone, now: number): boolean {
  return gone > now;
}
