/** What can be done to the jobs that are selected: one after the other, with what came of each counted. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { ApiError } from "../../api/api-error.ts";
import type { JobListing } from "../../api/types.ts";
import { askFirst } from "../../state/questions.ts";
import { useMay } from "../../state/session.ts";
import { tell, tellError } from "../../state/toasts.ts";
import { plural } from "../../text/numbers.ts";

type Verb = "retry" | "cancel" | "remove";

const WORDS: Readonly<Record<Verb, { verb: string; done: string; about: string }>> = {
  retry: {
    verb: "Retry",
    done: "retried",
    about: "Dead and cancelled ones run again, with one more attempt.",
  },
  cancel: {
    verb: "Cancel",
    done: "cancelled",
    about: "Queued ones do not run; running ones are asked to stop.",
  },
  remove: {
    verb: "Remove",
    done: "removed",
    about: "They are forgotten, with payload and history. It cannot be undone.",
  },
};

interface SelectionBarProps {
  /** Those that are selected, and shown. */
  readonly jobs: readonly JobListing[];
  readonly clear: () => void;
  readonly done: () => void;
}

export function SelectionBar({ jobs, clear, done }: SelectionBarProps) {
  const mayRemove = useMay("admin");
  const [isBusy, setBusy] = useState(false);
  const doAll = async (verb: Verb) => {
    const words = WORDS[verb];
    const title = `${words.verb} ${plural(jobs.length, "job")}?`;
    const answer = await askFirst({
      ...{
        title,
        body: words.about,
        verb: `${words.verb} ${jobs.length}`,
        isDestructive: verb !== "retry",
      },
    });
    if (answer === null) return;
    const { reason } = answer;
    let changed = 0;
    let refused = 0;
    setBusy(true);
    for (const { id } of jobs) {
      try {
        await call(verb, id, reason);
        changed += 1;
      } catch (error) {
        if (!(error instanceof ApiError) || ![404, 409].includes(error.status)) {
          tellError(error);
          break;
        }
        refused += 1;
      }
    }
    setBusy(false);
    const rest = refused === 0 ? "" : ` ${refused} did not allow it any more.`;
    tell(`${plural(changed, "job")} ${words.done}.${rest}`);
    done();
  };
  return (
    <div class="panel">
      <div class="h" role="region" aria-label="Selection">
        <b>{plural(jobs.length, "job")} selected</b>
        <span class="row">
          {jobs.some(({ status }) => status === "dead" || status === "cancelled") && (
            <button
              type="button"
              class="btn small"
              disabled={isBusy}
              onClick={() => void doAll("retry")}
            >
              Retry
            </button>
          )}
          {jobs.some(({ status }) => status === "queued" || status === "processing") && (
            <button
              type="button"
              class="btn small danger"
              disabled={isBusy}
              onClick={() => void doAll("cancel")}
            >
              Cancel
            </button>
          )}
          {mayRemove && jobs.some(({ status }) => status !== "processing") && (
            <button
              type="button"
              class="btn small danger"
              disabled={isBusy}
              onClick={() => void doAll("remove")}
            >
              Remove
            </button>
          )}
        </span>
        <span class="r">
          <button type="button" class="link" onClick={clear}>
            Select none
          </button>
        </span>
      </div>
    </div>
  );
}

function call(verb: Verb, id: string, reason: string | undefined): Promise<unknown> {
  if (verb === "retry") return api.jobs.retry(id, { reason });
  return verb === "cancel" ? api.jobs.cancel(id, { reason }) : api.jobs.remove(id, { reason });
}
