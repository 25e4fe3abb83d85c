/**
 * The execution lock: work of one owner, key and scope runs once at a time, and not again once it is done.
 *
 *   no record                    run
 *   running                      skip: already running
 *   running, but nobody does     run: taken over
 *   completed, same payload      skip: already completed
 *   completed, other payload     run again
 *   failed                       run
 *
 * Whether "running" is true is known by the holder's job, not by a clock: while a worker has it under the fence
 * of the record it runs, however long that takes; once it succeeded the work is done; in any other state it does
 * not run. The record's age counts only where the job is gone.
 */
import type { JobStatus } from "./job.ts";
import { canonicalJson, decodeJson } from "./json-text.ts";
import { Redactor } from "./redact.ts";

export type LockState = "running" | "completed" | "failed";
export type Skipped = "already_running" | "already_completed";

/** One lock. `jobId` and `fence` are also its writer's mark: one attempt alone writes them. */
export interface LockRecord {
  readonly id: string;
  readonly key: string;
  readonly scope: string;
  /** `""`: of no owner. */
  readonly owner: string;
  readonly state: LockState;
  /** Of the payload, without what is secret in it. */
  readonly hash: string;
  readonly jobId: string;
  readonly fence: number;
  readonly type: string;
  readonly queue: string;
  readonly group: string | null;
  readonly company: string | null;
  readonly staleMs: number;
  /** By the clock of the jobs' store. */
  readonly startedAt: number;
  readonly finishedAt: number | null;
}

/** The job that holds a lock, as far as it is known; null: it is gone. */
export interface LockHolder {
  readonly status: JobStatus;
  readonly fence: number;
  readonly finishedAt: number | null;
}

/** `outrun`: a later attempt of the same job has it, so this one is over. */
export type LockAnswer = "run" | "outrun" | Skipped;

/** What a record is worth now. */
export function judgedLock(
  record: LockRecord,
  holder: LockHolder | null,
  { now, staleMs }: { readonly now: number; readonly staleMs: number },
): LockRecord {
  if (record.state !== "running") return record;
  if (holder === null) {
    return now - record.startedAt < staleMs ? record : { ...record, state: "failed" };
  }
  const { status, fence, finishedAt } = holder;
  if (status === "succeeded") return { ...record, state: "completed", finishedAt };
  if (status === "processing" && fence === record.fence) return record;
  return { ...record, state: "failed", finishedAt };
}

/** What must be read before an answer can be given. */
export function needsHolder(record: LockRecord | null, claim: LockRecord): boolean {
  return record !== null && record.state === "running" && record.jobId !== claim.jobId;
}

/** What the record must become, and what the attempt that asks may do. */
export function askLock(
  record: LockRecord | null,
  claim: LockRecord,
  holder: LockHolder | null,
): [LockRecord, LockAnswer] {
  if (record === null) return [claim, "run"];
  if (record.jobId === claim.jobId) {
    return record.fence > claim.fence ? [record, "outrun"] : [claim, "run"];
  }
  const judged = judgedLock(record, holder, { now: claim.startedAt, staleMs: claim.staleMs });
  switch (judged.state) {
    case "running":
      return [judged, "already_running"];
    case "completed":
      return judged.hash === claim.hash ? [judged, "already_completed"] : [claim, "run"];
    case "failed":
      return [claim, "run"];
  }
}

const plain = new Redactor();

/** The text whose hash says whether a payload is the same, but for its secrets. */
export function lockText(payload: string): string {
  return canonicalJson(JSON.stringify(withoutSecrets(decodeJson(payload))));
}

function withoutSecrets(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, under]) =>
      plain.hides(key) ? [] : [[key, withoutSecrets(under)]],
    ),
  );
}
