/** Which jobs are meant, as people say it. */
import { InvalidOptionError } from "../../core/errors.ts";
import {
  ERROR_CATEGORIES,
  JOB_STATUSES,
  type ErrorCategory,
  type JobStatus,
} from "../../core/job.ts";
import { checkName } from "../../core/names.ts";
import { checkDate, checkOneOf, checkOptions, checkText } from "../../core/option-checks.ts";
import type { JobFilter } from "../../core/store.ts";

export interface JobsFilter {
  readonly status?: JobStatus | readonly JobStatus[] | undefined;
  /** Queued jobs only: due later, or ready. */
  readonly delayed?: boolean | undefined;
  readonly queue?: string | undefined;
  readonly group?: string | undefined;
  readonly type?: string | undefined;
  readonly tag?: string | undefined;
  readonly category?: ErrorCategory | undefined;
  /** Of the last failure: equal for failures that look alike. */
  readonly fingerprint?: string | undefined;
  /** Of the newest attempt: who has a processing job. */
  readonly worker?: string | undefined;
  /** Queued jobs only: with attempts behind them, or none. */
  readonly retrying?: boolean | undefined;
  /** Created at or after. */
  readonly from?: Date | undefined;
  /** Created before. */
  readonly to?: Date | undefined;
  /** Finished at or after. */
  readonly finishedFrom?: Date | undefined;
  /** Finished before. */
  readonly finishedTo?: Date | undefined;
}

const FILTER = [
  ...["status", "delayed", "queue", "group", "type", "tag", "category", "fingerprint", "worker"],
  ...["retrying", "from", "to", "finishedFrom", "finishedTo"],
];

/** What a store is asked for; a word it does not know is refused. */
export function jobsFilter(what: string, query: JobsFilter, others: readonly string[]): JobFilter {
  checkOptions(what, query, [...FILTER, ...others]);
  const { status, delayed, queue, group, type, tag, category, fingerprint, worker } = query;
  const { retrying, from, to, finishedFrom, finishedTo } = query;
  const statuses = typeof status === "string" ? [status] : status;
  if (statuses !== undefined && !(Array.isArray(statuses) && statuses.length > 0)) {
    throw new InvalidOptionError(
      `status is one of a job, or an array of at least one of them: ${JOB_STATUSES.join(", ")}`,
    );
  }
  for (const [name, value] of Object.entries({ delayed, retrying })) {
    if (value !== undefined && typeof value !== "boolean") {
      throw new InvalidOptionError(`${name} is true or false`);
    }
  }
  if (tag !== undefined && typeof tag !== "string") throw new InvalidOptionError("tag is a text");
  for (const one of statuses ?? []) checkOneOf("status", one, JOB_STATUSES);
  if (category !== undefined) checkOneOf("category", category, ERROR_CATEGORIES);
  return {
    ...(statuses && { status: statuses }),
    ...(delayed !== undefined && { delayed }),
    ...(queue !== undefined && { queue: checkName("queue", queue) }),
    ...(group !== undefined && { group: group === "" ? "" : checkName("group", group) }),
    ...(type !== undefined && { type: checkName("type", type) }),
    ...(tag !== undefined && { tag }),
    ...(category !== undefined && { category }),
    ...(fingerprint !== undefined && { fingerprint: checkText("fingerprint", fingerprint) }),
    ...(worker !== undefined && { worker: checkText("worker", worker) }),
    ...(retrying !== undefined && { retrying }),
    ...(from !== undefined && { from: checkDate("from", from) }),
    ...(to !== undefined && { to: checkDate("to", to) }),
    ...(finishedFrom !== undefined && { finishedFrom: checkDate("finishedFrom", finishedFrom) }),
    ...(finishedTo !== undefined && { finishedTo: checkDate("finishedTo", finishedTo) }),
  };
}
