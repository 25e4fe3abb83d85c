/** Why it does not run, when it does not: every reason that holds, with what would end it. */
import { api } from "../../api/client.ts";
import type { Job, Why } from "../../api/types.ts";
import { Relative } from "../../components/texts.tsx";
import { useNow } from "../../state/clock.ts";
import { href } from "../../state/router.ts";
import { useLoad } from "../../state/use-load.ts";
import { withLocalTimes } from "../../text/times.ts";

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
  return <Reasons why={why.data} queue={job.queue} />;
}

export function FaultLink({ fingerprint }: { fingerprint: string }) {
  return <a href={href(["dead-letters"], { fault: fingerprint })}>others like it</a>;
}

/** Where the one who reads can do what the sentence says a program would. */
function linkOf(kind: Why["reasons"][number]["kind"], queue: string) {
  switch (kind) {
    case "held":
    case "full":
      return { href: href(["queues", queue]), text: "The queue" };
    case "cooldown":
    case "breaker":
    case "rate":
      return { href: href(["gates"]), text: "Gates" };
    case "no worker":
    case "unknown type":
      return { href: href(["workers"]), text: "Workers" };
    default:
      return null;
  }
}

function Reasons({ why, queue }: { why: Why; queue: string }) {
  const now = useNow();
  const told = (text: string) => withLocalTimes(text, now);
  const [first, ...others] = why.reasons;
  const link = first === undefined ? null : linkOf(first.kind, queue);
  return (
    <div class={`why${first === undefined || first.kind === "behind" ? " calm" : ""}`}>
      <b>Why is it not running?</b> {told(why.summary)}
      {first && (
        <div class="soft">
          {told(first.remedy)}{" "}
          {first.until !== null && (
            <>
              It ends by itself <Relative at={first.until} />.{" "}
            </>
          )}
          {link && <a href={link.href}>{link.text} →</a>}
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
          Also: {told(message)} {told(remedy)}
        </div>
      ))}
    </div>
  );
}
