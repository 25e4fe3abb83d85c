/** Times, ages and words with a meaning, each with its exact value in a title. */
import type { JobStatus } from "../api/types.ts";
import { useNow } from "../state/clock.ts";
import { duration, exactTime, moment, relative } from "../text/times.ts";

/** "14:01:02", with day and milliseconds in its title. */
export function Time({ at }: { at: string | null }) {
  const now = useNow();
  if (at === null) return <span class="sub">–</span>;
  return (
    <time dateTime={at} title={exactTime(at)}>
      {moment(at, now)}
    </time>
  );
}

/** "6 min ago", "in 30 s". */
export function Relative({ at }: { at: string | null }) {
  const now = useNow();
  if (at === null) return <span class="sub">–</span>;
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relative(at, now)}
    </time>
  );
}

/** How old it is: "4.1 min". */
export function Age({ at, none = "–" }: { at: string | null; none?: string }) {
  const now = useNow();
  if (at === null) return <span class="sub">{none}</span>;
  return (
    <time dateTime={at} title={exactTime(at)}>
      {duration(now - Date.parse(at))}
    </time>
  );
}

export type Tone = "ok" | "warn" | "bad" | "wait" | "idle";

export function Tag({ tone = "idle", children }: { tone?: Tone; children: string }) {
  return (
    <span class={`tag ${tone}`} title={children}>
      {children}
    </span>
  );
}

const TONES: Readonly<Record<JobStatus, Tone>> = {
  ...{ queued: "wait", processing: "wait", succeeded: "ok", dead: "bad", cancelled: "idle" },
};

interface Standing {
  readonly status: JobStatus;
  readonly attempts?: number;
}

/** A queued job with a failure behind it is one that is tried again. */
export function StatusTag({ status, attempts = 0 }: Standing) {
  if (status === "queued" && attempts > 0) return <Tag tone="warn">retrying</Tag>;
  return <Tag tone={TONES[status]}>{status}</Tag>;
}

export function Keys({ keys }: { keys: string }) {
  return (
    <>
      {keys.split(" ").map((key, at) => (
        <>
          {at > 0 && " "}
          <kbd key={key}>{key}</kbd>
        </>
      ))}
    </>
  );
}
