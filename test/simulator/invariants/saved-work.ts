/** What a job has done stays done: stored steps never run again, and checkpoints come back. */
import type { Step } from "../../../packages/holdfast/src/core/job.ts";
import type { JobFacts } from "../facts/job-facts.ts";
import type { Court, Watcher } from "../watcher.ts";

export function storedSteps({ book, complain }: Court): Watcher {
  const name = "a stored step never runs again";
  return {
    leased({ id, steps }) {
      const job = book.jobs.get(id);
      const wrong = job && differenceOf(job, steps);
      if (wrong) complain(name, wrong, id);
    },
    stepStarted({ jobId, fence }, step) {
      const stored = book.jobs.get(jobId)?.steps.get(step);
      // A stale attempt cannot know what a later one has stored; nothing it makes is taken.
      if (stored && stored.fence <= fence) {
        complain(name, `step ${step} runs again, stored under fence ${stored.fence}`, jobId);
      }
    },
    stepEnded({ jobId, fence }, step, value) {
      const job = book.jobs.get(jobId);
      if (!job || job.fence !== fence || job.status !== "processing") return;
      const stored = job.steps.get(step);
      if (stored?.value !== JSON.stringify(value)) {
        const what = stored ? `stored as ${stored.value}` : "not stored";
        complain(name, `step ${step} answered ${JSON.stringify(value)} and is ${what}`, jobId);
      }
    },
  };
}

function differenceOf(job: JobFacts, steps: readonly Step[]): string | null {
  if (steps.length !== job.steps.size) {
    return `leased with ${steps.length} steps, ${job.steps.size} are stored`;
  }
  const wrong = steps.find(({ name, value }) => job.steps.get(name)?.value !== value);
  return wrong ? `leased with another value of step ${wrong.name}` : null;
}

export function savedCheckpoints({ book, complain }: Court): Watcher {
  const name = "what was saved comes back";
  return {
    leased({ id, checkpoint, payload }) {
      const job = book.jobs.get(id);
      if (job && job.checkpoint !== checkpoint) {
        complain(name, `leased with checkpoint ${checkpoint}, ${job.checkpoint} is stored`, id);
      } else if (job && job.payload !== payload) {
        complain(name, "leased with another payload", id);
      }
    },
    handlerStarted({ jobId }, checkpoint) {
      const saved = book.jobs.get(jobId)?.savedNumber ?? 0;
      const given = (checkpoint as { readonly n?: number } | undefined)?.n ?? 0;
      if (given < saved) {
        complain(name, `starts at ${given}, although its handler was told ${saved}`, jobId);
      }
    },
    saved({ jobId, fence }, number) {
      const job = book.jobs.get(jobId);
      if (job?.fence === fence) job.savedNumber = Math.max(job.savedNumber, number);
    },
  };
}
