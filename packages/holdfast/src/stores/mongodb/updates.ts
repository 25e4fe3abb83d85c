/** What rides along with a renew or a settle. */
import { LOG_LENGTH, type Step } from "../../core/job.ts";
import type { LeaseRef, Updates } from "../../core/store.ts";
import type { Changes } from "./edit.ts";
import { isTombstone, type AnyJob, type JobDocument } from "./schema.ts";

export function takeAlong(job: JobDocument, updates: Updates, now: number): Changes {
  const { progress, logs, checkpoint, steps } = updates;
  return {
    ...(progress === undefined ? {} : { progress: { ...progress } }),
    ...(logs === undefined ? {} : withLogs(job, logs, now)),
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(steps === undefined ? {} : { steps: withSteps(job.steps ?? [], steps) }),
  };
}

/** A finished step is never computed again, so its first value is the only one. */
function withSteps(kept: readonly Step[], added: readonly Step[]): Step[] {
  const steps = [...kept];
  for (const { name, value } of added) {
    if (!steps.some((step) => step.name === name)) steps.push({ name, value });
  }
  return steps;
}

export function withLogs(job: JobDocument, texts: readonly string[], now: number): Changes {
  const lines = texts.map((text) => ({ at: now, text }));
  return { logs: [...(job.logs ?? []), ...lines].slice(-LOG_LENGTH) };
}

/** Is this the job's current holder? Every write of a worker begins here. */
export function isHeldBy(job: AnyJob | null, { fence }: LeaseRef): job is JobDocument {
  if (job === null || isTombstone(job)) return false;
  return job.status === "processing" && job.fence === fence;
}
