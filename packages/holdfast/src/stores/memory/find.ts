import { InvalidCursorError } from "../../core/errors.ts";
import type { StoredJob } from "../../core/job.ts";
import { COUNTED_TO } from "../../core/line.ts";
import type { JobFilter, JobPage, JobRef, PageRequest } from "../../core/store.ts";
import { tombstoneOf } from "./moves.ts";
import { storedSnapshot, summarySnapshot } from "./snapshot.ts";
import { moveDue } from "./placement.ts";
import type { MemoryJob, MemoryState } from "./state.ts";

/** Some ten milliseconds: a filter that matches nothing must not walk many millions of jobs in one call. */
const LOOK_AT_MOST = 500_000;

export function get(state: MemoryState, refs: readonly JobRef[]): (StoredJob | "pruned" | null)[] {
  const now = state.clock.now();
  return refs.map(({ id }) => {
    const job = state.jobs.get(id);
    if (job !== undefined) return storedSnapshot(job);
    return tombstoneOf(state, id, now) === null ? null : "pruned";
  });
}

export function place(state: MemoryState, { id }: JobRef): number | null {
  const now = state.clock.now();
  const job = state.jobs.get(id);
  const queue = job && state.queues.get(job.queue);
  if (queue === undefined) return null;
  moveDue(state, queue, { now });
  if (job?.placement !== "ready") return null;
  return queue.lines.get(job.group)?.ready.countBefore(job, COUNTED_TO) ?? null;
}

export function find(state: MemoryState, filter: JobFilter, page: PageRequest): JobPage {
  const now = state.clock.now();
  const { jobs, nextCursor } = pageOfJobs(state, filter, { page, now });
  const shown = jobs.map(summarySnapshot);
  if (page.without === undefined) return { jobs: shown, nextCursor };
  return { jobs: shown.map((job) => ({ ...job, payload: "null", result: null })), nextCursor };
}

/**
 * The jobs themselves, by insertion. The cursor names the last job looked at, so a page goes on in
 * the right place whatever happened to that job meanwhile.
 */
export function pageOfJobs(
  state: MemoryState,
  filter: JobFilter,
  how: {
    readonly page: PageRequest;
    readonly now: number;
    readonly and?: (job: MemoryJob) => boolean;
  },
): { readonly jobs: MemoryJob[]; readonly nextCursor: string | null } {
  const { limit, cursor = null, order = "newest" } = how.page;
  const isUp = order === "oldest";
  const seq = cursor === null ? null : seqOf(cursor, order);
  const { items, last } = state.order.scan({
    start: startOf(state, seq, isUp),
    direction: isUp ? "up" : "down",
    limit,
    lookAtMost: LOOK_AT_MOST,
    wants: (job) => matches(job, filter, how.now) && (how.and === undefined || how.and(job)),
  });
  return { jobs: items, nextCursor: last === null ? null : cursorOf(last.seq, order) };
}

function startOf(state: MemoryState, seq: number | null, isUp: boolean): number {
  if (isUp) return seq === null ? 0 : state.order.firstIndex((job) => job.seq > seq);
  return (seq === null ? state.order.length : state.order.firstIndex((job) => job.seq >= seq)) - 1;
}

function matches(job: MemoryJob, filter: JobFilter, now: number): boolean {
  const { status, delayed, queue, group, type, tag, category, fingerprint, worker } = filter;
  const { retrying, from, to, finishedFrom, finishedTo } = filter;
  const isQueued = job.status === "queued";
  return (
    (status === undefined || status.includes(job.status)) &&
    (delayed === undefined || (isQueued && job.runAt > now === delayed)) &&
    (retrying === undefined || (isQueued && job.attempts > 0 === retrying)) &&
    (queue === undefined || job.queue === queue) &&
    (group === undefined || job.group === group) &&
    (type === undefined || job.type === type) &&
    (tag === undefined || job.tags.includes(tag)) &&
    (category === undefined || job.error?.category === category) &&
    (fingerprint === undefined || job.error?.fingerprint === fingerprint) &&
    (worker === undefined || job.worker === worker) &&
    (from === undefined || job.createdAt >= from) &&
    (to === undefined || job.createdAt < to) &&
    (finishedFrom === undefined || (job.finishedAt !== null && job.finishedAt >= finishedFrom)) &&
    (finishedTo === undefined || (job.finishedAt !== null && job.finishedAt < finishedTo))
  );
}

function cursorOf(seq: number, order: "newest" | "oldest"): string {
  return `${order === "newest" ? "n" : "o"}:${seq}`;
}

function seqOf(cursor: string, order: "newest" | "oldest"): number {
  const seq = Number(cursor.slice(2));
  if (Number.isSafeInteger(seq) && cursor === cursorOf(seq, order)) return seq;
  throw new InvalidCursorError(
    "this cursor is not from a page of this order: start again without one",
  );
}
