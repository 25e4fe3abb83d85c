/** Ticks as people see them. What the ledger does not know yet of a tick's job is asked of the job itself. */
import type { JobRef } from "../../core/store.ts";
import type { StoredJob } from "../../core/job.ts";
import type { StoredEntry } from "../../core/ledger.ts";
import type { ScheduleState, TickState } from "../../core/schedule.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import { lookAtJobs } from "../jobs/look-at-jobs.ts";
import { tickEntryId, type TickBody } from "./tick-entries.ts";

/** Entries in one question. */
const AT_ONCE = 200;

/** One tick of a schedule. */
export interface RunView {
  readonly schedule: string;
  /** When it was due. */
  readonly tick: Date;
  /** `skipped`: the job of the last tick had not finished. `failed`: the store refused its job. */
  readonly state: TickState;
  /** The id of its job; null if it made none. */
  readonly job: string | null;
  /** Null: it made no job, or what became of that is not known any more. */
  readonly outcome: "waiting" | "running" | "succeeded" | "dead" | "cancelled" | null;
  /** What the job failed with last, or why it was cancelled. */
  readonly error: string | null;
  /** How long its last attempt ran. */
  readonly ranMs: number | null;
  /** An operator wanted it now. */
  readonly isManual: boolean;
  readonly by: string | null;
  readonly reason: string | null;
}

export async function runViews(
  host: Pick<ExtensionHost, "jobs">,
  entries: readonly StoredEntry[],
): Promise<RunView[]> {
  const bodies = entries.map(({ body }) => JSON.parse(body) as TickBody);
  const open = entries.filter(({ jobId }, at) => jobId !== null && bodies[at]!.outcome === null);
  const jobs = await jobsOf(
    host,
    open.map(({ jobId, queue }) => ({ id: jobId!, ...(queue !== null && { queue }) })),
  );
  return entries.map(({ state, jobId }, at) => {
    const { schedule, tick, isManual, by, reason, outcome, error, ranMs } = bodies[at]!;
    const known = outcome ? { outcome, error, ranMs } : ofJob(jobs.get(jobId ?? ""), error);
    return {
      ...{ schedule, tick: new Date(tick), state: state as TickState, job: jobId },
      ...{ ...known, isManual, by, reason },
    };
  });
}

/** The last tick of each, by name. */
export async function lastRuns(
  host: ExtensionHost,
  states: readonly ScheduleState[],
): Promise<Map<string, RunView>> {
  const ran = states.filter(({ last }) => last !== null);
  const jobs = await jobsOf(
    host,
    ran.flatMap(({ last, lastJob }) => (last!.jobId && lastJob ? [lastJob] : [])),
  );
  const gone = ran.filter(({ last }) => last!.jobId !== null && !jobs.has(last!.jobId));
  const told = await toldOf(host, gone);
  return new Map(
    ran.map(({ name, last }) => {
      const { at, state, jobId, error = null } = last!;
      const known = told.get(name) ?? ofJob(jobs.get(jobId ?? ""), error);
      const about = { schedule: name, tick: new Date(at), state, job: jobId };
      return [name, { ...about, ...known, isManual: false, by: null, reason: null }];
    }),
  );
}

/** Of jobs that are not kept any more, the ledger knows how they ended. */
async function toldOf(host: ExtensionHost, states: readonly ScheduleState[]) {
  const told = new Map<string, Pick<RunView, "outcome" | "error" | "ranMs">>();
  if (states.length === 0 || !host.hasLedger) return told;
  const all = states.map(({ name, last }) => tickEntryId(name, last!));
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const ids = all.slice(from, from + AT_ONCE);
    const { entries } = await host.ledger((book) => book.read({ ids }, { limit: ids.length }));
    for (const { body } of entries) {
      const { schedule, outcome, error, ranMs } = JSON.parse(body) as TickBody;
      told.set(schedule, { outcome, error, ranMs });
    }
  }
  return told;
}

/** What a run shows of its job. */
type RunJob = Pick<StoredJob, "status" | "startedAt" | "finishedAt" | "reason" | "error">;

async function jobsOf(
  host: Pick<ExtensionHost, "jobs">,
  refs: readonly JobRef[],
): Promise<Map<string, RunJob>> {
  const found = await lookAtJobs(host, refs, (job): [string, RunJob][] => {
    if (typeof job !== "object" || job === null) return [];
    const { id, status, startedAt, finishedAt, reason, error } = job;
    return [[id, { status, startedAt, finishedAt, reason, error }]];
  });
  return new Map(found.flat());
}

function ofJob(
  job: RunJob | undefined,
  error: string | null,
): Pick<RunView, "outcome" | "error" | "ranMs"> {
  if (!job) return { outcome: null, error, ranMs: null };
  const { status, startedAt, finishedAt, reason } = job;
  const words = { queued: "waiting", processing: "running" } as const;
  const isOver = status !== "queued" && status !== "processing";
  return {
    outcome: isOver ? status : words[status],
    error: job.error?.message ?? (status === "cancelled" ? reason : null),
    ranMs: isOver && startedAt !== null && finishedAt !== null ? finishedAt - startedAt : null,
  };
}
