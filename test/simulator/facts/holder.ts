/** Who holds a job, and what a holder may write into it. */
import type { Updates } from "../../../packages/holdfast/src/core/store.ts";
import type { JobFacts } from "./job-facts.ts";

/** Is this the current holder's? Every write of a worker is judged by it. */
export function isHolder(job: JobFacts | undefined, fence: number): job is JobFacts {
  return job?.status === "processing" && job.fence === fence;
}

export function applyUpdates(job: JobFacts, updates: Updates | undefined, fence: number): void {
  if (updates?.checkpoint !== undefined) job.checkpoint = updates.checkpoint;
  for (const { name, value } of updates?.steps ?? []) {
    if (!job.steps.has(name)) job.steps.set(name, { value, fence });
  }
}
