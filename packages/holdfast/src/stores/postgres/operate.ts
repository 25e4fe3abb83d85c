/** An operator's hand. Each verb is a rule for jobs that `change-each.ts` has locked in their places. */
import type { JobStatus } from "../../core/job.ts";
import type { Due, Revival, Target, Why } from "../../core/store.ts";
import { sizeFlags } from "./byte-bound.ts";
import { changeEach, type Answer, type OperateOptions, type Operated } from "./change-each.ts";
import { instantAfter } from "./clock.ts";
import { freeKeys, freeKeysUntilFinished, rehashKeys, takeKeysAgain } from "./keys.ts";
import { leavePlaces, type LocatedJob } from "./located-job.ts";
import { number, numberOrNull, textOrNull } from "./row-values.ts";
import { HAS_KEY, HAS_PAST, IS_LARGE, placeFinished, placeInLine } from "./placement.ts";
import { bury } from "./tombstones.ts";
import { dropSteps, noteDetails } from "./job-details.ts";
import type { Transaction } from "./transaction.ts";

const ASK = `
  UPDATE holdfast.leased SET cancel_asked = true, cancel_reason = $2, cancel_by = $3, updated_at = $4
  WHERE seq = ANY ($1)`;
const STARTED = "SELECT seq, started_at, worker FROM holdfast.job_details WHERE seq = ANY ($1)";
const SET_PAYLOAD = "UPDATE holdfast.job SET payload = $2 WHERE seq = ANY ($1)";
export function cancel(options: OperateOptions, target: Target, why: Why): Promise<Operated> {
  return changeEach({ ...options, isForRunning: true }, target, async (tx, jobs) => {
    const waiting = jobs.filter(({ status }) => status === "queued");
    const running = jobs.filter(({ status }) => status === "processing");
    await endCancelled(tx, waiting, why);
    if (running.length > 0) await tx.rows(ASK, [seqs(running), why.reason, why.by, tx.now]);
    return answers(jobs, ({ status }) => {
      if (status === "processing") return { result: "asked", status };
      // The repeat after a lost reply is told what the first call was told.
      return status === "queued" || status === "cancelled" ? done("cancelled") : refused(status);
    });
  });
}

async function endCancelled(
  tx: Transaction,
  jobs: readonly LocatedJob[],
  { reason, by }: Why,
): Promise<void> {
  if (jobs.length === 0) return;
  await leavePlaces(tx, jobs);
  const rows = await tx.rows(STARTED, [seqs(jobs)]);
  const started = new Map(rows.map((row) => [number(row, 0), row]));
  await noteDetails(
    tx,
    jobs.map(({ seq }) => ({ seq, change: { reason, by_whom: by } })),
  );
  await freeKeysUntilFinished(tx, seqs(jobs.filter(hasKey)));
  await placeFinished(
    tx,
    jobs.map((job) => {
      const past = started.get(job.seq);
      return {
        ...job,
        flags: job.flags | HAS_PAST,
        as: "cancelled",
        finishedAt: tx.now,
        startedAt: past === undefined ? null : numberOrNull(past, 1),
        worker: past === undefined ? null : textOrNull(past, 2),
        result: null,
        resultDropped: false,
      };
    }),
  );
  for (const { id } of jobs) tx.finished.push(id);
}

export function revive(
  options: OperateOptions,
  target: Target,
  how: Revival,
  why: Why,
): Promise<Operated> {
  return changeEach({ ...options, isForRunning: false }, target, async (tx, jobs) => {
    const dead = jobs.filter(({ status }) => status === "dead" || status === "cancelled");
    if (dead.length > 0) {
      await leavePlaces(tx, dead);
      const checkpoint = how.payload === undefined ? {} : { checkpoint: null };
      await noteDetails(
        tx,
        dead.map(({ seq, startedAt, worker }) => ({
          seq,
          change: {
            reason: null,
            by_whom: why.by,
            started_at: startedAt,
            worker,
            deferrals: 0,
            ...checkpoint,
          },
        })),
      );
      if (how.payload !== undefined) await replacePayload(tx, dead, how.payload);
      await placeInLine(
        tx,
        dead.map((job) => ({
          ...job,
          crashes: 0,
          maxAttempts: job.attempts + how.attempts,
          runAt: dueAt(how, tx.now),
          flags: flagsWith(job.flags | HAS_PAST, how.payload),
        })),
      );
      await takeKeysAgain(tx, seqs(dead.filter(hasKey)));
    }
    const revived = new Set(dead);
    return answers(jobs, (job) => (revived.has(job) ? done("queued") : refused(job.status)));
  });
}

function flagsWith(flags: number, payload: Revival["payload"]): number {
  return payload === undefined ? flags : (flags & ~IS_LARGE) | sizeFlags(payload.json);
}

async function replacePayload(
  tx: Transaction,
  jobs: readonly LocatedJob[],
  { json, hash }: NonNullable<Revival["payload"]>,
): Promise<void> {
  await tx.rows(SET_PAYLOAD, [seqs(jobs), json]);
  await dropSteps(tx, seqs(jobs));
  if (hash !== null) await rehashKeys(tx, seqs(jobs.filter(hasKey)), hash);
}

export function reschedule(
  options: OperateOptions,
  target: Target,
  due: Due,
  _why: Why,
): Promise<Operated> {
  return changeEach({ ...options, isForRunning: false }, target, async (tx, jobs) => {
    const queued = jobs.filter(({ status }) => status === "queued");
    if (queued.length > 0) {
      await leavePlaces(tx, queued);
      await noteDetails(
        tx,
        queued.map(({ seq }) => ({ seq, change: {} })),
      );
      await placeInLine(
        tx,
        queued.map((job) => ({
          ...job,
          runAt: dueAt(due, tx.now),
          flags: job.flags | HAS_PAST,
        })),
      );
    }
    return answers(jobs, ({ status }) => (status === "queued" ? done("queued") : refused(status)));
  });
}

export function remove(options: OperateOptions, target: Target, _why: Why): Promise<Operated> {
  return changeEach({ ...options, isForRunning: false }, target, async (tx, jobs) => {
    const removable = jobs.filter(({ status }) => status !== "processing");
    await leavePlaces(tx, removable);
    await freeKeys(tx, seqs(removable.filter(hasKey)));
    await bury(
      tx,
      removable.map(({ seq, settledFence, flags }) => ({
        ...{ seq, settledFence },
        hasPast: (flags & HAS_PAST) !== 0,
      })),
    );
    return answers(jobs, ({ status }) => (status === "processing" ? refused(status) : done(null)));
  });
}

function answers(
  jobs: readonly LocatedJob[],
  of: (job: LocatedJob) => Answer,
): Map<number, Answer> {
  return new Map(jobs.map((job) => [job.seq, of(job)]));
}

function seqs(jobs: readonly LocatedJob[]): number[] {
  return jobs.map(({ seq }) => seq);
}

function hasKey({ flags }: LocatedJob): boolean {
  return (flags & HAS_KEY) !== 0;
}

function dueAt(due: Due, now: number): number {
  return due.runAt === null ? instantAfter(now, due.delayMs) : Math.ceil(due.runAt);
}

function done(status: JobStatus | null): Answer {
  return { result: "done", status };
}

function refused(status: JobStatus): Answer {
  return { result: "refused", status };
}
