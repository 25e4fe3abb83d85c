/** Asks why and for how long, then pauses a queue or one group of it. */
import { api } from "../../api/client.ts";
import { act } from "../../state/act.ts";
import { askFirst } from "../../state/questions.ts";
import { parseDuration } from "../../text/times.ts";

export async function pauseFirst(
  target: { readonly queue: string; readonly group?: string },
  reload: () => void,
): Promise<void> {
  const what =
    target.group === undefined
      ? `queue ${target.queue}`
      : `group ${target.group} of ${target.queue}`;
  const answer = await askFirst({
    title: `Pause ${what}?`,
    body: "Nothing more of it starts; what runs goes on. Jobs that are enqueued wait.",
    ...{ verb: `Pause ${target.group ?? target.queue}`, isDestructive: true, reason: "required" },
    fields: [
      {
        ...{ name: "forMs", label: "Resume by itself after (empty: never)", hint: "15 min, 2 h" },
        check: (text) => ((parseDuration(text) ?? 0) > 0 ? null : "write 15 min or 2 h"),
      },
    ],
  });
  if (answer === null) return;
  const forMs = parseDuration(answer.fields["forMs"] ?? "") ?? 0;
  const body = { reason: answer.reason, ...(forMs > 0 && { forMs }) };
  if (await act(() => api.queues.pause(target, body), `Paused: ${what}.`)) reload();
}
