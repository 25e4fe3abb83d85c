/** Who holds a job, and what a holder may write into it. */
import type { Riders } from "../../../packages/holdfast/src/core/store.ts";
import type { JobFacts } from "./job-facts.ts";

/** Is this the current holder's? Every write of a worker is judged by it. */
export function isHolder(job: JobFacts | undefined, fence: number): job is JobFacts {
  return job?.status === "processing" && job.fence === fence;
}

export function applyRiders(job: JobFacts, riders: Riders | undefined, fence: number): void {
  if (riders?.checkpoint !== undefined) job.checkpoint = riders.checkpoint;
  for (const { name, value } of riders?.steps ?? []) {
    if (!job.steps.has(name)) job.steps.set(name, { value, fence });
  }
}
