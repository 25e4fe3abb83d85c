/** What a role may do to a job that stands where this one stands. */
import { api } from "../../api/client.ts";
import type { Job } from "../../api/types.ts";
import { act } from "../../state/act.ts";
import { askFirst, type QuestionField } from "../../state/questions.ts";
import { go } from "../../state/router.ts";
import { useMay } from "../../state/session.ts";
import { tellError } from "../../state/toasts.ts";
import { parseExact, printExact } from "../../text/exact-json.ts";
import { checkJson } from "../jobs/enqueue-form.ts";

const AUDIT = { href: "#/audit", text: "Audit" };

export function JobActions({ job, reload }: { job: Job; reload: () => void }) {
  const mayOperate = useMay("operator");
  const isAdmin = useMay("admin");
  const { id, status, type } = job;
  if (!mayOperate) return null;
  const isDead = status === "dead" || status === "cancelled";
  const isOpen = status === "queued" || status === "processing";
  const audit = isAdmin ? AUDIT : null;

  const retry = async () => {
    const answer = await askFirst({
      title: `Retry this job of ${type}?`,
      body: "It runs once more as it is. If it fails again, it is dead again.",
      verb: "Retry",
      fields: [attemptsField],
    });
    if (answer === null) return;
    const attempts = Number(answer.fields["attempts"]);
    const body = { reason: answer.reason, ...(attempts > 0 && { attempts }) };
    if (await act(() => api.jobs.retry(id, body), "It is queued again.", audit)) reload();
  };
  const edit = async () => {
    const whole = await api.jobs
      .reveal(id, { reason: "edit and retry" })
      .catch((error: unknown) => {
        tellError(error);
        return null;
      });
    if (whole === null) return;
    const answer = await askFirst({
      title: "Edit and retry",
      body: "The payload as it is stored; that you see it is noted. The job keeps its id and its history.",
      verb: "Retry with this payload",
      isDestructive: true,
      reason: "required",
      fields: [
        {
          ...{ name: "payload", label: "Payload, as JSON", kind: "area", isRequired: true },
          ...{ value: printExact(whole.payload), check: checkJson },
        },
        attemptsField,
      ],
    });
    if (answer === null) return;
    const attempts = Number(answer.fields["attempts"]);
    const body = {
      ...{ reason: answer.reason, payload: parseExact(answer.fields["payload"] ?? "{}") },
      ...(attempts > 0 && { attempts }),
    };
    if (
      await act(() => api.jobs.retry(id, body), "It is queued again, with this payload.", audit)
    ) {
      reload();
    }
  };
  const cancel = async () => {
    const answer = await askFirst({
      title: `Cancel this job of ${type}?`,
      body:
        status === "processing"
          ? "Its handler is asked to stop; what it has done stays done."
          : "It does not run. It can be retried later.",
      ...{ verb: "Cancel the job", isDestructive: true },
    });
    if (answer === null) return;
    const done = await act(
      () => api.jobs.cancel(id, { reason: answer.reason }),
      ({ result }) => (result === "asked" ? "Its handler was asked to stop." : "It is cancelled."),
      audit,
    );
    if (done) reload();
  };
  const remove = async () => {
    const answer = await askFirst({
      title: `Remove this job of ${type}?`,
      body: "It is forgotten, with payload and history, and its key is free again. It cannot be undone.",
      ...{ verb: "Remove the job", isDestructive: true },
    });
    if (answer === null) return;
    if (await act(() => api.jobs.remove(id, { reason: answer.reason }), "It is removed.", audit)) {
      go("#/jobs");
    }
  };
  return (
    <span class="acts">
      {isDead && (
        <button type="button" class="btn p" onClick={() => void retry()}>
          Retry
        </button>
      )}
      {isDead && isAdmin && (
        <button type="button" class="btn" onClick={() => void edit()}>
          Edit and retry
        </button>
      )}
      {isOpen && !job.cancelAsked && (
        <button type="button" class="btn danger" onClick={() => void cancel()}>
          Cancel
        </button>
      )}
      {isAdmin && status !== "processing" && (
        <button type="button" class="btn danger" onClick={() => void remove()}>
          Remove
        </button>
      )}
    </span>
  );
}

const attemptsField: QuestionField = {
  ...{ name: "attempts", label: "Attempts (empty: one)", kind: "number" },
  check: (text) => (/^[1-9]\d{0,2}$/.test(text) ? null : "1 to 999"),
};
