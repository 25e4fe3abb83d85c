/** Nothing spins: a job is not leased and handed back over and over without ever being run. */
import type { Court, Watcher } from "../watcher.ts";

const WINDOW_MS = 1_000;
const MOST_LEASES = 30;

export function spinning({ book, now, complain }: Court): Watcher {
  return {
    leased({ id }) {
      const job = book.jobs.get(id);
      if (!job) return;
      if (now() - job.idleSince > WINDOW_MS) {
        job.idleSince = now();
        job.idleLeases = 0;
      }
      job.idleLeases += 1;
      if (job.idleLeases > MOST_LEASES) {
        complain("nothing spins", `leased ${job.idleLeases} times within a second, never run`, id);
      }
    },
    handlerStarted({ jobId }) {
      const job = book.jobs.get(jobId);
      if (job) job.idleLeases = 0;
    },
  };
}
