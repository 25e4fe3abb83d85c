/**
 * Priority that ages: waiting counts. In a queue with `agingMs` a job that has waited so long stands where a job
 * one priority higher stands that came just now. So a low priority is late, never lost.
 *
 * That order never changes while jobs wait: both of two jobs grow older. So it is no upkeep but a number that each
 * job gets once, when it is stored: its priority, and one more for every `agingMs` since the queue began to age. The
 * priority that its caller gave travels in its metadata, under our own word.
 */
import { MAX_PLACE, type NewJob } from "./job.ts";
import { META_WORD } from "./expiry.ts";
import { decodeJson } from "./json-text.ts";

/** Of one queue, as it is stored. It only grows: what came before must not fall behind what comes now. */
export interface Aging {
  /** Null: it does not age any more, and its jobs keep their places. */
  readonly everyMs: number | null;
  /** How far it was at `since`, by the store's clock. */
  readonly steps: number;
  readonly since: number;
}

export function agingSteps({ everyMs, steps, since }: Aging, now: number): number {
  return everyMs === null ? steps : steps + Math.max(0, Math.floor((now - since) / everyMs));
}

/** What is stored once the setting is changed; null: there was none, and is none. */
export function changedAging(
  before: Aging | null,
  everyMs: number | null,
  now: number,
): Aging | null {
  if (before === null && everyMs === null) return null;
  return { everyMs, steps: before ? agingSteps(before, now) : 0, since: now };
}

/** The job as it is stored. Again, it changes nothing: a spawned job is stored in two steps. */
export function placedJob(job: NewJob, steps: number): NewJob {
  if (steps === 0 || givenIn(job.meta) !== null) return job;
  const { priority } = job;
  const meta = job.meta === null ? {} : (decodeJson(job.meta) as Record<string, unknown>);
  const ours = { ...(meta[META_WORD] as object | undefined), priority };
  return {
    ...job,
    priority: Math.min(MAX_PLACE, priority + steps),
    meta: JSON.stringify({ ...meta, [META_WORD]: ours }),
  };
}

/** What the caller of a stored job asked for. */
export function givenPriority(job: {
  readonly priority: number;
  readonly meta: string | null;
}): number {
  return givenIn(job.meta) ?? job.priority;
}

function givenIn(meta: string | null): number | null {
  // Most jobs have none: nothing is parsed for them.
  if (meta === null || !meta.includes(`"${META_WORD}"`)) return null;
  const ours = (decodeJson(meta) as Record<string, unknown>)[META_WORD];
  const { priority } = Object(ours) as { readonly priority?: unknown };
  return typeof priority === "number" ? priority : null;
}
