/** Why it does not run, when it does not: every reason that holds, with what would end it. */
import { api } from "../../api/client.ts";
import type { Job, Why } from "../../api/types.ts";
import { Relative } from "../../components/texts.tsx";
import { href } from "../../state/router.ts";
import { useLoad } from "../../state/use-load.ts";

export function WhyBox({ job }: { job: Job }) {
  const isAsked = job.status === "queued";
  const why = useLoad(
    isAsked ? `${job.id} ${job.updatedAt}` : null,
    (signal) => api.jobs.why(job.id, signal),
    5_000,
  );
  if (job.status === "dead") {
    return (
      <div class="why bad">
        <b>It is dead</b>
        {job.reason !== null && `: ${job.reason}`}. It runs again only if it is retried
        {job.error?.fingerprint && (
          <>
            ; <FaultLink fingerprint={job.error.fingerprint} />
          </>
        )}
        .
      </div>
    );
  }
  if (job.status === "cancelled") {
    return (
      <div class="why calm">
        <b>It is cancelled</b>
        {job.reason !== null && `: ${job.reason}`}.
      </div>
    );
  }
  if (!isAsked || why.data === null) return null;
  return <Reasons why={why.data} />;
}

export function FaultLink({ fingerprint }: { fingerprint: string }) {
  return <a href={href(["dead-letters"], { fault: fingerprint })}>others like it</a>;
}

function Reasons({ why }: { why: Why }) {
  const [first, ...others] = why.reasons;
  return (
    <div class={`why${first === undefined || first.kind === "behind" ? " calm" : ""}`}>
      <b>Why is it not running?</b> {why.summary}
      {first && (
        <div class="soft">
          {first.remedy}{" "}
          {first.until !== null && (
            <>
              It ends by itself <Relative at={first.until} />.
            </>
          )}
          {first.jobs.length > 0 && (
            <>
              {" In its way: "}
              {first.jobs.map((id) => (
                <a key={id} class="mono" href={href(["jobs", id])}>
                  {id.slice(0, 13)}…{" "}
                </a>
              ))}
            </>
          )}
        </div>
      )}
      {others.map(({ kind, message, remedy }) => (
        <div key={kind + message} class="soft">
          Also: {message} {remedy}
        </div>
      ))}
    </div>
  );
}
