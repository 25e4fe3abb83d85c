/** How far an operation is, what failed again, and what can be told to it. */
import { api } from "../api/client.ts";
import type { Operation } from "../api/types.ts";
import { act } from "../state/act.ts";
import { askFirst } from "../state/questions.ts";
import { href } from "../state/router.ts";
import { useMay } from "../state/session.ts";
import { count, plural } from "../text/numbers.ts";
import { Bar } from "./bar.tsx";
import { Relative } from "./texts.tsx";

export function OperationProgress({
  operation,
  reload,
}: {
  operation: Operation;
  reload: () => void;
}) {
  const { id, action, state, of, done, succeeded, failedAgain, refused, missing, by, reason } =
    operation;
  const needed = action === "remove" ? "admin" : "operator";
  const mayTell = useMay(needed);
  const isRetry = action === "retry";
  const tell = async (verb: "pause" | "resume" | "abort") => {
    if (verb === "abort") {
      const answer = await askFirst({
        title: `Abort this ${action}?`,
        body: `${plural(of - done, "job")} are left as they are. What was done stays done, and it cannot go on.`,
        ...{ verb: "Abort it", isDestructive: true, reason: "none" },
      });
      if (answer === null) return;
    }
    const words = { pause: "It is paused.", resume: "It goes on.", abort: "It is aborted." };
    if (await act(() => api.operations.tell(id, verb), words[verb])) reload();
  };
  const parts = [
    isRetry ? `${count(succeeded)} succeeded` : `${count(done - refused - missing)} done`,
    isRetry && failedAgain > 0 ? `${count(failedAgain)} failed again` : "",
    refused > 0 ? `${count(refused)} refused` : "",
    missing > 0 ? `${count(missing)} gone` : "",
    of > done ? `${count(of - done)} to go` : "",
  ];
  return (
    <div class="form">
      <div class="between">
        <a href={href(["operations", id])}>
          {action} {plural(of, "job")}
        </a>
        <span class="sub">
          {state} · <Relative at={operation.startedAt ?? operation.plannedAt} />
        </span>
      </div>
      <Bar
        label={`${action}: ${done} of ${of}`}
        of={of}
        parts={
          isRetry
            ? [
                { tone: "ok", value: succeeded },
                { tone: "bad", value: failedAgain },
                {
                  tone: "wait",
                  value: Math.max(0, done - succeeded - failedAgain - refused - missing),
                },
                { tone: "idle", value: refused + missing },
              ]
            : [
                { tone: "ok", value: done - refused - missing },
                { tone: "idle", value: refused + missing },
              ]
        }
      />
      <div class="soft any">
        {parts.filter(Boolean).join(" · ")}
        <div class="sub">
          by {by ?? "a program"}
          {reason !== null && reason !== "" && `: “${reason}”`}
        </div>
      </div>
      {mayTell && (state === "running" || state === "paused") && (
        <div class="row">
          {state === "running" ? (
            <button type="button" class="btn small" onClick={() => void tell("pause")}>
              Pause
            </button>
          ) : (
            <button type="button" class="btn small" onClick={() => void tell("resume")}>
              Resume
            </button>
          )}
          <button type="button" class="btn small danger" onClick={() => void tell("abort")}>
            Abort
          </button>
        </div>
      )}
    </div>
  );
}
