/** A line for each start and end of a job of this process, as people who watch a log expect. */
import { Logger } from "@nestjs/common";
import type { Holdfast } from "holdfast";

export function logJobs(hf: Holdfast): void {
  const logger = new Logger("QueueWorkerService");
  const clean = (text: string) => hf.tools.redact.text(text);
  hf.on("started", ({ id, type }) => logger.log(`Processing job ${id} of type ${type}`));
  hf.on("succeeded", ({ id, ranMs }) =>
    logger.log(`Job ${id} succeeded after ${Math.round(ranMs)} ms`),
  );
  hf.on("failed", ({ id, attempt, failure, willRetry, retryInMs }) => {
    // The end of a job has a line of its own.
    if (!willRetry) return;
    const when = retryInMs === null ? "" : `, next try in ${Math.round(retryInMs)} ms`;
    logger.warn(`Job ${id} failed in attempt ${attempt}${when}: ${clean(failure.message)}`);
  });
  hf.on("dead", ({ id, type, reason, failure }) =>
    logger.error(
      `Job ${id} of type ${type} is dead (${reason}): ${clean(failure.message)}`,
      failure.stack === null ? undefined : clean(failure.stack),
    ),
  );
  hf.on("cancelled", ({ id, reason }) =>
    logger.warn(`Job ${id} was cancelled${reason === null ? "" : `: ${clean(reason)}`}`),
  );
  hf.on("lost", ({ id }) =>
    logger.warn(`The lease of job ${id} was lost: it runs again elsewhere`),
  );
  hf.on("reaped", ({ count, workers }) =>
    logger.warn(`${count} jobs of lost workers wait again (${workers.join(", ")})`),
  );
}
