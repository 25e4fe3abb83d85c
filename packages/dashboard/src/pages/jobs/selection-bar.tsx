/** What can be done to the jobs that are selected: one after the other, with what came of each counted. */
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
  readonly ids: readonly string[];
  readonly jobs: readonly JobListing[];
  readonly clear: () => void;
  readonly done: () => void;
}

export function SelectionBar({ ids, jobs, clear, done }: SelectionBarProps) {
  const mayRemove = useMay("admin");
  const chosen = jobs.filter(({ id }) => ids.includes(id));
  const doAll = async (verb: Verb) => {
    const words = WORDS[verb];
    const title = `${words.verb} ${plural(ids.length, "job")}?`;
    const answer = await askFirst({
      ...{
        title,
        body: words.about,
        verb: `${words.verb} ${ids.length}`,
        isDestructive: verb !== "retry",
      },
    });
    if (answer === null) return;
    const { reason } = answer;
    let changed = 0;
    let refused = 0;
    for (const id of ids) {
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
    const rest = refused === 0 ? "" : ` ${refused} did not allow it any more.`;
    tell(`${plural(changed, "job")} ${words.done}.${rest}`);
    done();
  };
  return (
    <div class="panel">
      <div class="h" role="region" aria-label="Selection">
        <b>{plural(ids.length, "job")} selected</b>
        <span class="row">
          {chosen.some(({ status }) => status === "dead" || status === "cancelled") && (
            <button type="button" class="btn small" onClick={() => void doAll("retry")}>
              Retry
            </button>
          )}
          {chosen.some(({ status }) => status === "queued" || status === "processing") && (
            <button type="button" class="btn small danger" onClick={() => void doAll("cancel")}>
              Cancel
            </button>
          )}
          {mayRemove && chosen.some(({ status }) => status !== "processing") && (
            <button type="button" class="btn small danger" onClick={() => void doAll("remove")}>
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
