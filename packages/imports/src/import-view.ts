/** An import as people look at it: its job, without what only the handler needs. */
import type { JobListing, JobStatus, Progress } from "holdfast";
import { JOB_TYPE_PREFIX } from "./define-import.ts";
import type { ImportPayload } from "./job/import-payload.ts";
import type { ImportSummary } from "./job/import-summary.ts";

export interface ImportView {
  readonly id: string;
  readonly type: string;
  readonly file: string;
  readonly dryRun: boolean;
  readonly status: JobStatus;
  readonly progress: Progress | null;
  /** Once it has succeeded. */
  readonly summary: ImportSummary | null;
  /** Of the last attempt that failed. */
  readonly error: string | null;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

export interface ImportsPage {
  readonly imports: readonly ImportView[];
  readonly nextCursor: string | null;
}

export function viewOf(job: JobListing): ImportView {
  const payload = Object(job.payload) as Partial<ImportPayload>;
  return {
    ...{ id: job.id, type: job.type.slice(JOB_TYPE_PREFIX.length), status: job.status },
    file: payload.fileName ?? String(payload.filePath ?? ""),
    dryRun: payload.dryRun === true,
    progress: job.progress,
    summary: job.status === "succeeded" ? (job.result as ImportSummary | null) : null,
    error: job.error?.message ?? job.reason,
    ...{ attempts: job.attempts, createdAt: job.createdAt },
    ...{ startedAt: job.startedAt, finishedAt: job.finishedAt },
  };
}
