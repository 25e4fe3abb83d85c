import type { Attempt } from "./attempt.ts";

/** The words every event of a job has. */
export function aboutJob({ job, worker }: Attempt) {
  const { id, type, queue, group, attempt } = job;
  return { id, type, queue, group: group || null, attempt, worker };
}
