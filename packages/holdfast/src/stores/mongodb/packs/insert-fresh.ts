/**
 * How plain new jobs get among the fresh ones (`fresh.ts`): those of one call that stand next to each other in
 * a line share a document. It is made straight from the jobs, because this is what most inserts are.
 */
import type { NewJob } from "../../../core/job.ts";
import type { Database } from "../database.ts";
import type { Document } from "../driver-like.ts";
import { MOST_FRESH_CHARACTERS } from "./fresh.ts";
import { areBeside, spanOf } from "./id-span.ts";
import { charactersOf, hasRoom } from "./packs.ts";

/** Is this new job one that waits there, if nobody else has its id? */
export function isPlain(job: NewJob): boolean {
  const isDue = job.runAt === null && job.delayMs === 0;
  const mayRun = job.maxAttempts > 0;
  return isDue && mayRun && job.dedupe === null && charactersOf(job) <= MOST_FRESH_CHARACTERS;
}

export interface FreshCall {
  readonly jobs: readonly NewJob[];
  /** The number of the first of them. */
  readonly first: number;
  readonly now: number;
  /** Is the job at this place of the call to wait there? */
  readonly takes: (at: number) => boolean;
}

/** Answers the places of those that do not wait there: not to be taken, or somebody has their numbers. */
export async function insertFresh(db: Database, call: FreshCall): Promise<number[]> {
  const { runs, left } = runsOf(call);
  const documents = runs.map((run) => documentOf(run, call));
  for (const index of (await db.insertRepeatable("fresh", documents)).keys()) {
    const { at, jobs } = runs[index] as Run;
    left.push(...jobs.map((_, place) => at + place));
  }
  return left;
}

/** Jobs that share a document. */
interface Run {
  /** The place of the first of them. */
  readonly at: number;
  readonly jobs: NewJob[];
  characters: number;
}

/** As many together as fit, and as stand next to each other; and who is left. */
function runsOf({ jobs, takes }: FreshCall): { readonly runs: Run[]; readonly left: number[] } {
  const runs: Run[] = [];
  const left: number[] = [];
  let run: Run | null = null;
  for (let at = 0; at < jobs.length; at++) {
    if (!takes(at)) {
      left.push(at);
      run = null;
      continue;
    }
    const job = jobs[at] as NewJob;
    const characters = charactersOf(job);
    if (run !== null && hasRoom(run, characters) && isLike(job, run.jobs[0] as NewJob)) {
      run.jobs.push(job);
      run.characters += characters;
    } else {
      run = { at, jobs: [job], characters };
      runs.push(run);
    }
  }
  return { runs, left };
}

function isLike(job: NewJob, other: NewJob): boolean {
  return (
    job.queue === other.queue &&
    job.group === other.group &&
    job.type === other.type &&
    job.priority === other.priority &&
    job.maxAttempts === other.maxAttempts &&
    areBeside(job.id, other.id)
  );
}

function documentOf({ jobs, at }: Run, { first, now }: FreshCall): Document {
  const { queue, group, type, priority, maxAttempts } = jobs[0] as NewJob;
  const seq = first + at;
  const ids = jobs.map(({ id }) => id);
  const { idFrom, idTo } = spanOf(ids);
  return {
    _id: seq,
    ready: queue,
    seq,
    status: "queued",
    idFrom,
    idTo,
    ids,
    queue,
    type,
    group,
    priority,
    maxAttempts,
    createdAt: now,
    n: jobs.length,
    first: seq,
    last: seq + jobs.length - 1,
    pack: listsOf(jobs),
  };
}

/** What most jobs do not have is a list only if one of them has it. */
function listsOf(jobs: readonly NewJob[]): Document {
  const lists: Document = { payload: jobs.map(({ payload }) => payload) };
  if (jobs.some(({ tags }) => tags.length > 0)) {
    lists["tags"] = jobs.map(({ tags }) => (tags.length === 0 ? null : tags));
  }
  if (jobs.some(({ meta }) => meta !== null)) lists["meta"] = jobs.map(({ meta }) => meta);
  if (jobs.some(({ trace }) => trace !== null)) lists["trace"] = jobs.map(({ trace }) => trace);
  return lists;
}
