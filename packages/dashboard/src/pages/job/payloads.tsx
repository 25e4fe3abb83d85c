/** Payload, result and checkpoint: secrets hidden, numbers exact. An admin may look behind, and that is noted. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { Job } from "../../api/types.ts";
import { Panel } from "../../components/panel.tsx";
import { copyText } from "../../state/copy.ts";
import { askFirst } from "../../state/questions.ts";
import { useMay } from "../../state/session.ts";
import { tell, tellError } from "../../state/toasts.ts";
import { printExact } from "../../text/exact-json.ts";

type Shown = Pick<Job, "payload" | "result" | "checkpoint">;

export function Payloads({ job }: { job: Job }) {
  const mayReveal = useMay("admin");
  const [revealed, setRevealed] = useState<Shown | null>(null);
  const reveal = async () => {
    const answer = await askFirst({
      title: "Show everything as it is stored?",
      body: "Secrets in payload, result and checkpoint are shown to you. That you looked is noted in the audit.",
      verb: "Show it",
    });
    if (answer === null) return;
    try {
      setRevealed(await api.jobs.reveal(job.id, { reason: answer.reason }));
      tell("Shown as it is stored, and noted.", { href: "#/audit", text: "Audit" });
    } catch (error) {
      tellError(error);
    }
  };
  const shown = revealed ?? job;
  const link =
    revealed !== null ? (
      <button type="button" class="link" onClick={() => setRevealed(null)}>
        hide again
      </button>
    ) : mayReveal ? (
      <button type="button" class="link" onClick={() => void reveal()}>
        reveal
      </button>
    ) : null;
  return (
    <>
      <Value
        title="Payload"
        value={shown.payload}
        aside={
          <>
            secrets {revealed ? "shown" : "hidden"} {link}
          </>
        }
      />
      {job.status === "succeeded" && (
        <Value
          title="Result"
          value={shown.result}
          aside={job.resultDropped ? "too large or not JSON: not stored" : ""}
        />
      )}
      {shown.checkpoint !== null && shown.checkpoint !== undefined && (
        <Value title="Checkpoint" value={shown.checkpoint} aside="where a retry goes on" />
      )}
    </>
  );
}

interface ValueProps {
  readonly title: string;
  readonly value: unknown;
  readonly aside: preact.ComponentChildren;
}

function Value({ title, value, aside }: ValueProps) {
  const text = printExact(value);
  return (
    <Panel
      title={title}
      isPadded
      aside={
        <>
          <span>{aside}</span>
          <button type="button" class="link" onClick={() => void copyText(text, title)}>
            copy
          </button>
        </>
      }
    >
      <pre tabIndex={0} aria-label={title}>
        {text}
      </pre>
    </Panel>
  );
}
