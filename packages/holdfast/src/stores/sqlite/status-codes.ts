/** Statuses as the tables have them. */
import type { FinishedStatus, JobStatus } from "../../core/job.ts";

export const STATUS_CODES: Readonly<Record<FinishedStatus, number>> = {
  succeeded: 1,
  dead: 2,
  cancelled: 3,
};

/** By the code that `STATUS_OF_JOB` answers: 0 and 4 are not stored. */
export const STATUSES: readonly JobStatus[] = [
  "queued",
  "succeeded",
  "dead",
  "cancelled",
  "processing",
];
