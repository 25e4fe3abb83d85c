/** What answers show of jobs, failures and audits: secrets hidden, whoever asks. */
import type { FailureView, Holdfast, JobListing, JobView, LedgerEntryView } from "holdfast";
import type { RunView, ScheduleView, WhyView } from "holdfast";

export function listingView(hf: Holdfast, job: JobListing) {
  const { redact } = hf.tools;
  return {
    ...job,
    payload: redact.value(job.payload),
    result: redact.value(job.result),
    meta: redact.value(job.meta),
    reason: textOrNull(hf, job.reason),
    error: job.error && {
      ...job.error,
      message: redact.text(job.error.message),
      stack: textOrNull(hf, job.error.stack),
    },
    progress: job.progress && { ...job.progress, message: textOrNull(hf, job.progress.message) },
  };
}

export function jobDetails(hf: Holdfast, job: JobView) {
  const { redact } = hf.tools;
  return {
    ...job,
    ...listingView(hf, job),
    checkpoint: redact.value(job.checkpoint),
    logs: job.logs.map(({ at, text }) => ({ at, text: redact.text(text) })),
    history: job.history.map((attempt) => ({
      ...attempt,
      message: textOrNull(hf, attempt.message),
      stack: textOrNull(hf, attempt.stack),
    })),
  };
}

export function failureDetails(hf: Holdfast, failure: FailureView) {
  const { redact } = hf.tools;
  return {
    ...failure,
    payload: redact.value(failure.payload),
    message: redact.text(failure.message),
    stack: textOrNull(hf, failure.stack),
  };
}

/** What a tick's job failed with. */
export function runDetails(hf: Holdfast, run: RunView): RunView {
  return { ...run, error: textOrNull(hf, run.error) };
}

export function scheduleDetails(hf: Holdfast, schedule: ScheduleView): ScheduleView {
  const { lastRun } = schedule;
  return { ...schedule, lastRun: lastRun && runDetails(hf, lastRun) };
}

/** What it failed with is among the reasons, and what a store said that does not answer. */
export function whyDetails(hf: Holdfast, { summary, reasons, ...about }: WhyView): WhyView {
  const { redact } = hf.tools;
  return {
    ...{ ...about, summary: redact.text(summary) },
    reasons: reasons.map((one) => ({ ...one, message: redact.text(one.message) })),
  };
}

/** `isShort`: who did what to what, without the details that only an admin may read. */
export function auditView(hf: Holdfast, entry: LedgerEntryView, { isShort = false } = {}) {
  const { id, jobId, type, queue, group, state, at } = entry;
  const { action, by, reason, worker, details } = Object(entry.body) as {
    readonly [part in "action" | "by" | "reason" | "worker"]?: string | null;
  } & { readonly details?: unknown };
  const what = {
    ...{ id, at, action: action ?? "", by: by ?? null, reason: textOrNull(hf, reason ?? null) },
    ...{ state, queue },
  };
  if (isShort) return what;
  const hidden = hf.tools.redact.value(details ?? {});
  return { ...what, jobId, type, group, worker: worker ?? null, details: hidden };
}

function textOrNull(hf: Holdfast, text: string | null): string | null {
  return text === null ? null : hf.tools.redact.text(text);
}
