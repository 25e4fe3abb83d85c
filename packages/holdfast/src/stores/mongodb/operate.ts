/**
 * An operator's hand. Each verb is a rule for one job; `changeEach` finds the jobs, by their ids or by
 * a filter in steps.
 */
import type { JobStatus } from "../../core/job.ts";
import type { Change, Changes, Due, Revival, Target, Why } from "../../core/store.ts";
import { instantAfter } from "./clock.ts";
import type { Database } from "./database.ts";
import { edit, type Changes as FieldChanges, type Edit, type Thought } from "./edit.ts";
import { matches, pageOfIds, wasSo } from "./find.ts";
import { keyOf, Standers } from "./keys.ts";
import { bury, endCancelled, requeue } from "./moves.ts";
import { isTombstone, type JobDocument } from "./schema.ts";
import { inLine, isSoon } from "./placement.ts";
import type { Told } from "./told.ts";
import { wholeJob } from "./whole-job.ts";

type Answer = Omit<Change, "id">;
type Rule = (job: JobDocument, now: number) => Thought<Answer>;

export interface OperateOptions {
  readonly db: Database;
  readonly told: Told;
}

export async function cancel(how: OperateOptions, target: Target, why: Why): Promise<Changes> {
  const { told } = how;
  return changeEach(how, target, (job, now) => {
    if (job.status === "queued") {
      return { ...done("cancelled"), changes: endCancelled(job, why, { now, told }) };
    }
    if (job.status === "processing") {
      const cancelWhy = { reason: why.reason, by: why.by };
      const answer = { result: "asked" as const, status: job.status };
      return { answer, changes: { cancelWhy, updatedAt: now } };
    }
    // The repeat after a lost reply is told what the first call was told.
    return job.status === "cancelled" ? done(job.status) : refused(job);
  });
}

export async function revive(
  how: OperateOptions,
  target: Target,
  revival: Revival,
  why: Why,
): Promise<Changes> {
  const { db, told } = how;
  /** Jobs whose old key somebody else has by now: they run without. */
  const keyless = new Set<string>();
  const rule: Rule = (job, now) => {
    if (job.status !== "dead" && job.status !== "cancelled") return refused(job);
    const payload = revival.payload === undefined ? {} : newPayload(job, revival.payload);
    const changes: FieldChanges = {
      ...payload,
      ...requeue(job, dueAt(revival, now), { now, told }),
      crashes: 0,
      deferrals: 0,
      maxAttempts: job.attempts + revival.attempts,
      reason: null,
      by: why.by,
    };
    // Only a key "until-finished" was given up.
    const takesKey = job.dedupe?.lifetime === "until-finished" && !keyless.has(job._id);
    const key = takesKey ? keyOf({ ...job, status: "queued" }, now) : {};
    return { ...done("queued"), changes: { ...changes, ...key } };
  };
  return changeEach(how, target, rule, {
    async before(jobs, now) {
      const wanting = jobs.filter(({ dedupe }) => dedupe?.lifetime === "until-finished");
      if (wanting.length === 0) return;
      // Also takes away what is past its time and would only seem to be in the way.
      const standers = await Standers.inTheWayOf(db, wanting, now);
      for (const job of wanting) {
        const taker = standers.holderOf(job);
        if (taker !== null && taker !== job._id) keyless.add(job._id);
        else standers.take(job);
      }
    },
    onKeyTaken: (id) => keyless.add(id),
  });
}

export async function reschedule(how: OperateOptions, target: Target, due: Due): Promise<Changes> {
  return changeEach(how, target, (job, now) => {
    if (job.status !== "queued") return refused(job);
    const runAt = dueAt(due, now);
    if (isSoon({ runAt, now })) how.told.queues.add(job.queue);
    const place = inLine(job.queue, { runAt, now });
    return { ...done("queued"), changes: { ...place, runAt, updatedAt: now } };
  });
}

export async function remove({ db, told }: OperateOptions, target: Target): Promise<Changes> {
  return changeEach({ db, told }, target, (job, now) => {
    if (job.status === "processing") return refused(job);
    const tombstone = bury({ ...job, k: null }, { now, remembersMs: db.remembersMs });
    return { ...done(null), tombstone };
  });
}

interface Extras {
  /** Looks around before the rule is asked. */
  before?(jobs: readonly JobDocument[], now: number): Promise<void>;
  onKeyTaken?(id: string): void;
}

const NEEDLESS = { payload: 0, result: 0, steps: 0, checkpoint: 0, logs: 0, history: 0 };

async function changeEach(
  { db }: OperateOptions,
  target: Target,
  rule: Rule,
  extras: Extras = {},
): Promise<Changes> {
  if ("ids" in target) {
    const ids = target.ids.map(({ id }) => id);
    const changes = await changeAll(db, { ids, rule, extras });
    return { changes: changes.filter((one) => one !== null), nextCursor: null };
  }
  // Oldest first, and only what was so when the operator looked: otherwise reviving dead jobs that
  // die again at once would never come to an end.
  const { filter, frozenAt, limit, cursor = null } = target;
  const page = { limit, cursor, order: "oldest" as const };
  const { ids, nextCursor } = await pageOfIds(db, filter, { page, frozenAt });
  const isStill = (job: JobDocument, now: number): boolean =>
    matches(job, filter, now) && wasSo(job, frozenAt);
  const changes = await changeAll(db, { ids, rule, extras, isStill });
  return { changes: changes.filter((one) => one !== null), nextCursor };
}

interface ChangeAll {
  readonly ids: readonly string[];
  readonly rule: Rule;
  readonly extras: Extras;
  /** For a filter: is the job still one of those that were meant? */
  readonly isStill?: (job: JobDocument, now: number) => boolean;
}

async function changeAll(
  db: Database,
  { ids, rule, extras, isStill }: ChangeAll,
): Promise<(Change | null)[]> {
  if (ids.length === 0) return [];
  if (extras.before !== undefined) {
    const filter = { _id: { $in: ids }, status: { $in: ["dead", "cancelled"] } };
    const found = await db.find<JobDocument>("jobs", filter, { projection: NEEDLESS });
    const byId = new Map(found.map((job) => [job._id, wholeJob(job)]));
    const inOrder = ids.flatMap((id) => byId.get(id) ?? []);
    await extras.before(inOrder, await db.now());
  }
  const edits = ids.map((id): Edit<Change | null> => ({
    id,
    think(job, now) {
      if (job === null || isTombstone(job)) {
        const isMeant = isStill === undefined;
        return { answer: isMeant ? { id, result: "missing", status: null } : null };
      }
      if (isStill !== undefined && !isStill(job, now)) return { answer: null };
      const { answer, ...what } = rule(job, now);
      return { ...what, answer: { id, ...answer } };
    },
    onKeyTaken: () => extras.onKeyTaken?.(id),
    // It is being settled right now.
    ifLocked: () => ({ id, result: "refused", status: "processing" }),
  }));
  return edit(db, edits, NEEDLESS);
}

function newPayload(
  job: JobDocument,
  { json, hash }: NonNullable<Revival["payload"]>,
): FieldChanges {
  const dedupe = job.dedupe == null || hash === null ? {} : { dedupe: { ...job.dedupe, hash } };
  return { payload: json, checkpoint: null, steps: null, ...dedupe };
}

function dueAt(due: Due, now: number): number {
  return due.runAt ?? instantAfter(now, due.delayMs);
}

function done(status: JobStatus | null): { readonly answer: Answer } {
  return { answer: { result: "done", status } };
}

function refused(job: JobDocument): { readonly answer: Answer } {
  return { answer: { result: "refused", status: job.status } };
}
