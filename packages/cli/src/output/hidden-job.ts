/** A job without its secrets: what a screen, a log or a paste may show. */
import type { JobListing, JobView, Redactor } from "holdfast";

export function hiddenJob<Job extends JobListing>(redactor: Redactor, job: Job): Job {
  const { payload, result, meta, error } = job;
  const { checkpoint, logs, history } = job as Partial<JobView>;
  return {
    ...job,
    payload: redactor.value(payload),
    result: redactor.value(result),
    meta: redactor.value(meta),
    error: error && {
      ...error,
      message: redactor.text(error.message),
      stack: error.stack && redactor.text(error.stack),
    },
    ...(checkpoint !== undefined && { checkpoint: redactor.value(checkpoint) }),
    ...(logs && { logs: logs.map(({ at, text }) => ({ at, text: redactor.text(text) })) }),
    ...(history && {
      history: history.map((one) => ({
        ...one,
        message: one.message && redactor.text(one.message),
        stack: one.stack && redactor.text(one.stack),
      })),
    }),
  };
}
