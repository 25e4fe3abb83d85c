/** Everything that fits the filter, as an operation: planned first, started with a reason, carried on by any worker. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { Plan } from "../../api/types.ts";
import { PlanPreview } from "../../components/plan-preview.tsx";
import { Panel } from "../../components/panel.tsx";
import { act } from "../../state/act.ts";
import { currentTime } from "../../state/clock.ts";
import { askFirst } from "../../state/questions.ts";
import { go, href } from "../../state/router.ts";
import { useMay } from "../../state/session.ts";
import { tellError } from "../../state/toasts.ts";
import { plural } from "../../text/numbers.ts";
import { parseJobQuery, type JobsQuery } from "../../text/job-query.ts";

const VERBS = [
  { action: "retry", text: "Retry all", role: "operator", isDestructive: false },
  { action: "reschedule", text: "Make all due now", role: "operator", isDestructive: false },
  { action: "cancel", text: "Cancel all", role: "operator", isDestructive: true },
  { action: "remove", text: "Remove all", role: "admin", isDestructive: true },
] as const;

/** An operation is chosen by the store alone: it does not read messages, nor beginnings of names. */
export function operationFilter(query: JobsQuery): Record<string, unknown> | string {
  if (query["text"] !== undefined) return "error:";
  if (query["id"] !== undefined) return "id:";
  if (query["type"]?.endsWith("*")) return "type: with a star";
  const { status, retrying, ...rest } = query;
  return {
    ...rest,
    ...(status !== undefined && { status: status.split(",") }),
    ...(retrying !== undefined && { retrying: retrying === "true" }),
  };
}

export function AllMatching({ text }: { text: string }) {
  const isAdmin = useMay("admin");
  const [plan, setPlan] = useState<{ of: string; plan: Plan } | null>(null);
  const [isPlanning, setPlanning] = useState(false);
  const { query, problems } = parseJobQuery(text, currentTime());
  const filter = operationFilter(query);
  if (problems.length > 0) {
    return (
      <p class="sub">
        To do something to all that fit, mend what was not understood: without it more jobs fit.
      </p>
    );
  }
  if (typeof filter === "string") {
    return (
      <p class="sub">
        To do something to all that fit, leave out {filter}: an operation looks by status, type,
        queue, group, tag, category, fault, worker and time.
      </p>
    );
  }
  if (Object.keys(filter).length === 0) return null;
  const make = async (action: string) => {
    setPlanning(true);
    try {
      // "2h" is two hours before the plan is made.
      const now = operationFilter(parseJobQuery(text, currentTime()).query);
      const planned = await api.operations.plan({ action, filter: now });
      setPlan({ of: text, plan: planned.plan });
    } catch (error) {
      tellError(error);
    }
    setPlanning(false);
  };
  const shown = plan?.of === text ? plan.plan : null;
  const start = async (made: Plan) => {
    const verb = VERBS.find(({ action }) => action === made.action);
    const answer = await askFirst({
      title: `${made.action} ${plural(made.count, "job")}?`,
      body: `All that fitted ${text} when it was planned. Any worker carries it on; it can be paused and aborted.`,
      verb: `Start: ${made.action} ${made.count}`,
      isDestructive: verb?.isDestructive ?? true,
      reason: "required",
      fields: [
        {
          ...{
            name: "perSecond",
            label: "At most so many a second (empty: as fast as it goes)",
            kind: "number",
          },
          check: (value) => (/^[1-9]\d{0,4}$/.test(value) ? null : "a whole number above 0"),
        },
      ],
    });
    if (answer === null) return;
    const perSecond = Number(answer.fields["perSecond"]);
    const started = await act(
      () =>
        api.operations.start(made.id, {
          reason: answer.reason,
          ...(perSecond > 0 && { perSecond }),
        }),
      `The operation over ${plural(made.count, "job")} has begun.`,
    );
    if (started) go(href(["operations", started.id]));
  };
  return (
    <Panel
      title="Do something to all that fit?"
      isPadded
      aside={isPlanning ? "looking …" : "nothing changes before you start it"}
    >
      <div class="row">
        {VERBS.filter(({ role }) => role === "operator" || isAdmin).map(
          ({ action, text: name, isDestructive }) => (
            <button
              key={action}
              type="button"
              class={`btn${isDestructive ? " danger" : ""}`}
              disabled={isPlanning}
              onClick={() => void make(action)}
            >
              {name} …
            </button>
          ),
        )}
      </div>
      {shown && (
        <PlanPreview plan={shown}>
          {shown.count > 0 && (
            <button type="button" class="btn p" onClick={() => void start(shown)}>
              Start: {shown.action} {plural(shown.count, "job")}
            </button>
          )}
          <button type="button" class="btn" onClick={() => setPlan(null)}>
            Forget this plan
          </button>
        </PlanPreview>
      )}
    </Panel>
  );
}
