/** Times, ages and words with a meaning, each with its exact value in a title. */
import { useMemo } from "preact/hooks";
import type { JobStatus } from "../api/types.ts";
import { useTextByNow } from "../state/clock.ts";
import { duration, exactTime, moment, relative } from "../text/times.ts";

interface TimeTextProps {
  readonly at: string;
  readonly textAt: (now: number) => string;
}

/** The exact time does not change: it is made once, not every second. */
function TimeText({ at, textAt }: TimeTextProps) {
  const text = useTextByNow(textAt);
  const title = useMemo(() => exactTime(at), [at]);
  return (
    <time dateTime={at} title={title}>
      {text}
    </time>
  );
}

/** "14:01:02", with day and milliseconds in its title. */
export function Time({ at }: { at: string | null }) {
  if (at === null) return <span class="sub">–</span>;
  return <TimeText at={at} textAt={(now) => moment(at, now)} />;
}

/** "6 min ago", "in 30 s". */
export function Relative({ at }: { at: string | null }) {
  if (at === null) return <span class="sub">–</span>;
  return <TimeText at={at} textAt={(now) => relative(at, now)} />;
}

/** How old it is: "4.1 min". */
export function Age({ at, none = "–" }: { at: string | null; none?: string }) {
  if (at === null) return <span class="sub">{none}</span>;
  return <TimeText at={at} textAt={(now) => duration(now - Date.parse(at))} />;
}

/** A name of a job's type, queue or gate. Where there is no room for it, it is cut behind its own marks first. */
export function Name({ of: name }: { of: string }) {
  return (
    <>
      {name.split(MARKS).map((part, at) => (
        <>
          {at > 0 && <wbr />}
          {part}
        </>
      ))}
    </>
  );
}

const MARKS = /(?<=[.:/_-])/;

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
