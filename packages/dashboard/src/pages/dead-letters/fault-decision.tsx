/** What was decided about a fault, and what can be. */
import { api } from "../../api/client.ts";
import type { FaultGroup } from "../../api/types.ts";
import { Panel } from "../../components/panel.tsx";
import { Relative, Tag } from "../../components/texts.tsx";
import { act } from "../../state/act.ts";
import { askFirst } from "../../state/questions.ts";
import { href } from "../../state/router.ts";
import { useMay, useMe } from "../../state/session.ts";
import { cappedCount } from "../../text/numbers.ts";

export function FaultDecision({ fault, reload }: { fault: FaultGroup; reload: () => void }) {
  const me = useMe();
  const mayDecide = useMay("operator") && me.queues === null;
  const {
    fingerprint,
    state,
    message,
    type,
    category,
    count,
    firstAt,
    lastAt,
    resolvedIn,
    example,
  } = fault;
  if (fingerprint === null) return null;
  const resolve = async () => {
    const answer = await askFirst({
      title: "Is this fault resolved?",
      body: "It leaves the list, and comes back by itself if a job dies of it again. Its dead jobs stay as they are.",
      verb: "Resolve",
    });
    if (
      answer &&
      (await act(() => api.dead.resolve(fingerprint, { reason: answer.reason }), "It is resolved."))
    ) {
      reload();
    }
  };
  const ignore = async () => {
    const answer = await askFirst({
      title: "Ignore this fault?",
      body: "It leaves the list until more jobs die of it in an hour than you say.",
      verb: "Ignore",
      fields: [
        {
          ...{
            name: "rate",
            label: "Show it again from so many an hour (empty: never)",
            kind: "number",
          },
          check: (text) => (/^[1-9]\d{0,3}$/.test(text) ? null : "1 to 9,999"),
        },
      ],
    });
    if (answer === null) return;
    const untilPerHour = Number(answer.fields["rate"]);
    const body = { reason: answer.reason, ...(untilPerHour > 0 && { untilPerHour }) };
    if (await act(() => api.dead.ignore(fingerprint, body), "It is ignored.")) reload();
  };
  const reopen = async () => {
    const answer = await askFirst({ title: "Open this fault again?", verb: "Open again" });
    if (
      answer &&
      (await act(
        () => api.dead.reopen(fingerprint, { reason: answer.reason }),
        "It is open again.",
      ))
    ) {
      reload();
    }
  };
  return (
    <Panel
      title="The fault"
      isPadded
      aside={
        mayDecide && (
          <span class="row">
            {state !== "resolved" && (
              <button type="button" class="btn small" onClick={() => void resolve()}>
                Resolve
              </button>
            )}
            {state !== "ignored" && (
              <button type="button" class="btn small" onClick={() => void ignore()}>
                Ignore
              </button>
            )}
            {(state === "resolved" || state === "ignored") && (
              <button type="button" class="btn small" onClick={() => void reopen()}>
                Open again
              </button>
            )}
          </span>
        )
      }
    >
      <pre tabIndex={0} aria-label="The message of the fault">
        {message ?? "Without a message"}
      </pre>
      <div class="soft">
        {cappedCount(count)} of <code>{type}</code>, {category ?? "no category"}. First seen{" "}
        <Relative at={firstAt} />, last <Relative at={lastAt} />.{" "}
        {state === "back" && (
          <>
            <Tag tone="bad">back</Tag> It was called resolved{resolvedIn ? ` in ${resolvedIn}` : ""}
            .{" "}
          </>
        )}
        <a href={href(["jobs", example])}>The newest of them, with its stack</a>.
      </div>
    </Panel>
  );
}
