/**
 * An operator's hand. Each verb is a rule for one job; `changeEach` finds the jobs, by their ids or
 * by a filter in steps.
 */
import type { JobStatus } from "../../core/job.ts";
import type { Change, Changes, Due, Revival, Target, Why } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import { pageOfJobs } from "./find.ts";
import { freeKey, ownKey, takeKey } from "./keys.ts";
import { bury, endCancelled, requeue } from "./moves.ts";
import { placeInLine } from "./placement.ts";
import { queueOf, type MemoryJob, type MemoryState } from "./state.ts";

type Answer = Omit<Change, "id">;

export function cancel(state: MemoryState, target: Target, why: Why): Changes {
  return changeEach(state, target, (job, now): Answer => {
    if (job.status === "queued") {
      endCancelled(state, job, { why, now });
      return done("cancelled");
    }
    if (job.status === "processing") {
      job.cancelWhy = { reason: why.reason, by: why.by };
      job.updatedAt = now;
      return { result: "asked", status: job.status };
    }
    // The repeat after a lost reply is told what the first call was told.
    return job.status === "cancelled" ? done(job.status) : refused(job);
  });
}

export function revive(state: MemoryState, target: Target, how: Revival, why: Why): Changes {
  return changeEach(state, target, (job, now): Answer => {
    if (job.status !== "dead" && job.status !== "cancelled") return refused(job);
    const queue = queueOf(state, job.queue);
    if (how.payload !== undefined) replacePayload(state, job, how.payload);
    job.crashes = 0;
    job.deferrals = 0;
    job.maxAttempts = job.attempts + how.attempts;
    job.reason = null;
    job.by = why.by;
    requeue(state, job, { runAt: dueAt(how, now), now });
    // Only a key "until-finished" was given up. If another job has it by now, this one runs without.
    if (job.dedupe?.lifetime === "until-finished") takeKey(state, job, { queue, now });
    return done("queued");
  });
}

export function reschedule(state: MemoryState, target: Target, due: Due, _why: Why): Changes {
  return changeEach(state, target, (job, now): Answer => {
    if (job.status !== "queued") return refused(job);
    job.runAt = dueAt(due, now);
    job.updatedAt = now;
    placeInLine(state, job, now);
    return done("queued");
  });
}

export function remove(state: MemoryState, target: Target, _why: Why): Changes {
  return changeEach(state, target, (job, now): Answer => {
    if (job.status === "processing") return refused(job);
    freeKey(state, queueOf(state, job.queue), job);
    bury(state, job, now);
    return done(null);
  });
}

function changeEach(
  state: MemoryState,
  target: Target,
  change: (job: MemoryJob, now: number) => Answer,
): Changes {
  const now = state.clock.now();
  if ("ids" in target) {
    const changes = target.ids.map(({ id }): Change => {
      const job = state.jobs.get(id);
      return job === undefined
        ? { id, result: "missing", status: null }
        : { id, ...change(job, now) };
    });
    return { changes, nextCursor: null };
  }
  // Oldest first, and only what was so when the operator looked: otherwise reviving dead jobs that
  // die again at once would never come to an end.
  const { filter, frozenAt, limit, cursor = null } = target;
  const { jobs, nextCursor } = pageOfJobs(state, filter, {
    page: { limit, cursor, order: "oldest" },
    now,
    and: (job) => job.createdAt <= frozenAt && (job.finishedAt ?? frozenAt) <= frozenAt,
  });
  return { changes: jobs.map((job) => ({ id: job.id, ...change(job, now) })), nextCursor };
}

function replacePayload(
  state: MemoryState,
  job: MemoryJob,
  { json, hash }: NonNullable<Revival["payload"]>,
): void {
  job.payload = json;
  job.checkpoint = null;
  job.steps = [];
  if (job.dedupe === null || hash === null) return;
  job.dedupe.hash = hash;
  const taken = ownKey(queueOf(state, job.queue), job);
  if (taken !== null) taken.hash = hash;
}

function dueAt(due: Due, now: number): number {
  return due.runAt ?? instantAfter(now, due.delayMs);
}

function done(status: JobStatus | null): Answer {
  return { result: "done", status };
}

function refused(job: MemoryJob): Answer {
  return { result: "refused", status: job.status };
}
