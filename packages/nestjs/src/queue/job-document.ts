/**
 * The job that a handler gets: a `RunningJob` that also has the words of a document in a jobs collection (`_id`,
 * `attempts`, `status`), so that handlers written for one remain as they are.
 */
import type { RunningJob } from "holdfast";

/** What a stored job is called in the words of such a collection. */
export const JobStatus = {
  QUEUED: "queued",
  PROCESSING: "processing",
  SUCCEEDED: "succeeded",
  FAILED: "failed",
} as const;
export type JobStatus = (typeof JobStatus)[keyof typeof JobStatus];

interface DocumentWords {
  readonly _id: string;
  readonly status: JobStatus;
  /** Of this attempt: 1 for the first. */
  readonly attempts: number;
  /** When this attempt's handler was called, by this host's clock. */
  readonly startedAt: Date;
  readonly updatedAt: Date;
}

// oxlint-disable-next-line typescript/no-explicit-any -- as a document of a collection: its handler knows its payload
export type JobDocument<Payload = any, Result = unknown> = RunningJob<Payload, Result> &
  DocumentWords;

/** What a handler returns is stored as the job's result. */
export type JobResult = unknown;

/** A class that runs jobs of one type. */
export interface IJobHandler {
  handle(job: JobDocument): Promise<JobResult>;
}

/** The same object: its methods have private parts that no copy would have. */
export function asDocument(job: RunningJob): JobDocument {
  const startedAt = new Date();
  const words: DocumentWords = {
    ...{ _id: job.id, status: JobStatus.PROCESSING, attempts: job.attempt },
    ...{ startedAt, updatedAt: startedAt },
  };
  return Object.assign(job, words);
}
