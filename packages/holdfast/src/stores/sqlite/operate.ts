/**
 * An operator's hand. Each verb is a rule for one job; `changeEach` finds the jobs, by their ids or
 * by a filter in steps.
 */
import type { JobStatus } from "../../core/job.ts";
import type { Change, Changes, Due, Revival, Target, Why } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import { pageOfSeqs } from "./find.ts";
import { expiryOf, freeKey, keyHolder, rehashKey, takeKey, UNTIL_FINISHED } from "./keys.ts";
import { leavePlace, locate, type LocatedJob } from "./located-job.ts";
import { HAS_PAST, IS_LARGE, sizeFlag, standFinished, standInLine } from "./placement.ts";
import { bury } from "./tombstones.ts";
import { dropSteps, noteDetails } from "./job-details.ts";
import type { Transaction } from "./transaction.ts";

type Answer = Omit<Change, "id">;

const ASK = `
  UPDATE holdfast_leased SET cancel_asked = 1, cancel_reason = ?, cancel_by = ?, updated_at = ?
  WHERE seq = ?`;
const DETAILS_OF = "SELECT started_at, worker FROM holdfast_details WHERE seq = ?";
const FORGET_DEFERRALS = "UPDATE holdfast_details SET deferrals = 0 WHERE seq = ?";
const SET_PAYLOAD = "UPDATE holdfast_job SET payload = ? WHERE seq = ?";
const SET_HASH = "UPDATE holdfast_job SET key_hash = ? WHERE seq = ?";

export function cancel(tx: Transaction, target: Target, why: Why): Changes {
  return changeEach(tx, target, (job): Answer => {
    if (job.status === "queued") {
      leavePlace(tx, job);
      noteDetails(tx, job.seq, { reason: why.reason, by_whom: why.by });
      const past = tx.db.rows<[number | null, string | null]>(DETAILS_OF).get(job.seq);
      const [startedAt, worker] = past ?? [null, null];
      const w = worker === null ? null : tx.workers.numberOf(worker);
      const finish = { startedAt, w, result: null, resultDropped: false };
      standFinished(tx, job.queue, withPast(job), { as: "cancelled", ...finish });
      tx.finishedJobs.push(job.id);
      return done("cancelled");
    }
    if (job.status === "processing") {
      tx.db.run(ASK, why.reason, why.by, tx.now, job.seq);
      return { result: "asked", status: job.status };
    }
    // The repeat after a lost reply is told what the first call was told.
    return job.status === "cancelled" ? done(job.status) : refused(job);
  });
}

export function revive(tx: Transaction, target: Target, how: Revival, why: Why): Changes {
  return changeEach(tx, target, (job): Answer => {
    if (job.status !== "dead" && job.status !== "cancelled") return refused(job);
    const { seq, startedAt, attempts } = job;
    const worker = job.w === null ? null : tx.workers.nameOf(job.w);
    leavePlace(tx, job);
    noteDetails(tx, seq, { reason: null, by_whom: why.by, started_at: startedAt, worker });
    tx.db.run(FORGET_DEFERRALS, seq);
    const hash = how.payload === undefined ? job.keyHash : replacePayload(tx, job, how.payload);
    standInLine(tx, job.queue, job.group, {
      ...withPast(job),
      flags: flagsWith(how.payload, withPast(job)),
      crashes: 0,
      maxAttempts: attempts + how.attempts,
      runAt: dueAt(how, tx.now),
    });
    takeKeyAgain(tx, job, hash);
    return done("queued");
  });
}

export function reschedule(tx: Transaction, target: Target, due: Due, _why: Why): Changes {
  return changeEach(tx, target, (job): Answer => {
    if (job.status !== "queued") return refused(job);
    leavePlace(tx, job);
    noteDetails(tx, job.seq, {});
    standInLine(tx, job.queue, job.group, { ...withPast(job), runAt: dueAt(due, tx.now) });
    return done("queued");
  });
}

export function remove(tx: Transaction, target: Target, _why: Why): Changes {
  return changeEach(tx, target, (job): Answer => {
    if (job.status === "processing") return refused(job);
    leavePlace(tx, job);
    if (job.key !== null) freeKey(tx, job.queue, { key: job.key, id: job.id });
    bury(tx, job.queue, job);
    return done(null);
  });
}

function changeEach(tx: Transaction, target: Target, change: (job: LocatedJob) => Answer): Changes {
  if ("ids" in target) {
    const changes = target.ids.map(({ id }): Change => {
      const job = locate(tx, { id });
      return job === null ? { id, result: "missing", status: null } : { id, ...change(job) };
    });
    return { changes, nextCursor: null };
  }
  // Oldest first, and only what was so when the operator looked: otherwise reviving dead jobs that
  // die again at once would never come to an end.
  const { filter, frozenAt, limit, cursor = null } = target;
  // The filter reads what is written.
  tx.flush();
  const page = { limit, cursor, order: "oldest" as const };
  const { seqs, nextCursor } = pageOfSeqs(tx.db, filter, { page, now: tx.now, frozenAt });
  const changes = seqs.flatMap((seq): Change[] => {
    const job = locate(tx, { seq });
    return job === null ? [] : [{ id: job.id, ...change(job) }];
  });
  return { changes, nextCursor };
}

/** Answers the hash that the job's key has from now on, if it has one that is kept in the body. */
function replacePayload(
  tx: Transaction,
  job: LocatedJob,
  { json, hash }: NonNullable<Revival["payload"]>,
): string | null {
  const { seq, id, key, queue } = job;
  tx.db.run(SET_PAYLOAD, json, seq);
  noteDetails(tx, seq, { checkpoint: null });
  dropSteps(tx, seq);
  if (key === null || hash === null) return job.keyHash;
  rehashKey(tx, queue, { key, id, hash });
  if (job.keyLife === UNTIL_FINISHED) tx.db.run(SET_HASH, hash, seq);
  return hash;
}

/** Only a key "until-finished" was given up. If another job has it by now, this one runs without. */
function takeKeyAgain(tx: Transaction, job: LocatedJob, hash: string | null): void {
  const { id, key, keyLife, queue } = job;
  if (key === null || keyLife !== UNTIL_FINISHED || hash === null) return;
  if (keyHolder(tx, queue, key) !== null) return;
  takeKey(tx, queue, { key, id, hash, expiresAt: expiryOf(keyLife, tx.now) });
}

function withPast(job: LocatedJob): LocatedJob {
  return { ...job, flags: job.flags | HAS_PAST };
}

function flagsWith(payload: Revival["payload"], { flags }: LocatedJob): number {
  return payload === undefined ? flags : (flags & ~IS_LARGE) | sizeFlag(payload.json);
}

function dueAt(due: Due, now: number): number {
  return due.runAt === null ? instantAfter(now, due.delayMs) : Math.ceil(due.runAt);
}

function done(status: JobStatus | null): Answer {
  return { result: "done", status };
}

function refused(job: LocatedJob): Answer {
  return { result: "refused", status: job.status };
}
