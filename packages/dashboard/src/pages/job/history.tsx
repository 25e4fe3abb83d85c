/** What happened, newest first: attempts with how long they took, steps, log lines, how it began. */
import type { ComponentChildren } from "preact";
import type { Job } from "../../api/types.ts";
import { Bar } from "../../components/bar.tsx";
import { Panel } from "../../components/panel.tsx";
import { Tag, Time, type Tone } from "../../components/texts.tsx";
import { useNow } from "../../state/clock.ts";
import { href } from "../../state/router.ts";
import { plural } from "../../text/numbers.ts";
import { duration } from "../../text/times.ts";
import { FaultLink } from "./why-box.tsx";

export function History({ job }: { job: Job }) {
  const { attempts, maxAttempts, crashes, status, runAt } = job;
  const aside = (
    <>
      <span>
        {attempts} of {plural(maxAttempts, "attempt")}
        {crashes > 0 && `, ${plural(crashes, "crash", "crashes")}`}
      </span>
      {status === "queued" && attempts > 0 && (
        <span>
          next not before <Time at={runAt} />
        </span>
      )}
    </>
  );
  return (
    <>
      <Panel title="What happened?" aside={aside}>
        <div class="times">
          {job.finishedAt !== null && status === "cancelled" && (
            <Moment at={job.finishedAt} tone="idle">
              <b>Cancelled</b> <span class="sub any">{job.reason}</span>
            </Moment>
          )}
          {status === "processing" && <Running job={job} />}
          {[...job.history].reverse().map((attempt) => (
            <Attempt key={attempt.fence} job={job} attempt={attempt} />
          ))}
          {Date.parse(runAt) - Date.parse(job.createdAt) > 1_000 && job.history.length === 0 && (
            <Moment at={runAt} tone="wait">
              <b>Due</b>
            </Moment>
          )}
          <Moment at={job.createdAt} tone="wait">
            <b>Enqueued</b> <span class="sub">in {job.queue}</span>
          </Moment>
        </div>
      </Panel>
      <Steps job={job} />
      <Logs job={job} />
    </>
  );
}

interface MomentProps {
  readonly at: string;
  readonly tone: Tone;
  readonly children: ComponentChildren;
}

function Moment({ at, tone, children }: MomentProps) {
  return (
    <div class="moment">
      <div class="t">
        <Time at={at} />
      </div>
      <div class="rail" aria-hidden="true">
        <b class={tone} />
        <u />
      </div>
      <div class="c any">{children}</div>
    </div>
  );
}

function Running({ job }: { job: Job }) {
  const now = useNow();
  const began = job.startedAt ?? job.leasedAt ?? job.updatedAt;
  return (
    <Moment at={began} tone="wait">
      <b>Runs</b> for {duration(now - Date.parse(began))}{" "}
      {job.cancelAsked && <Tag tone="warn">asked to stop</Tag>}
      <WorkerText worker={job.worker} />
      {job.progress !== null && (
        <div>
          <Bar label="Progress" of={100} parts={[{ tone: "wait", value: job.progress.percent }]} />
          <span class="soft">
            {job.progress.percent} % {job.progress.message}
          </span>
        </div>
      )}
    </Moment>
  );
}

function WorkerText({ worker }: { worker: string | null }) {
  if (worker === null) return null;
  return (
    <div class="sub any">
      on <a href={href(["jobs"], { q: `worker:${worker}` })}>{worker}</a>
    </div>
  );
}

const OUTCOMES: Readonly<Record<Job["history"][number]["outcome"], { text: string; tone: Tone }>> =
  {
    succeeded: { text: "Succeeded", tone: "ok" },
    failed: { text: "Failed", tone: "bad" },
    crashed: { text: "Its process was lost", tone: "bad" },
    cancelled: { text: "Stopped", tone: "idle" },
  };

function Attempt({ job, attempt }: { job: Job; attempt: Job["history"][number] }) {
  const { outcome, category, message, stack, startedAt, endedAt, worker } = attempt;
  const { text, tone } = OUTCOMES[outcome];
  const ms = Date.parse(endedAt) - Date.parse(startedAt);
  const isLast = job.history.at(-1) === attempt;
  return (
    <Moment at={startedAt} tone={tone}>
      <b>
        {text} after {duration(ms)}
      </b>{" "}
      {category !== null && <Tag tone="warn">{category}</Tag>}{" "}
      <span class="sub">attempt {attempt.attempt}</span>
      <WorkerText worker={worker} />
      {message !== null && !(isLast && stack?.includes(message)) && (
        <pre class="soft">{message}</pre>
      )}
      {stack !== null && stack !== message && (
        <details open={isLast}>
          <summary class="sub">stack</summary>
          <pre class="soft">{stack}</pre>
        </details>
      )}
      {isLast && job.error?.fingerprint && outcome === "failed" && (
        <FaultLink fingerprint={job.error.fingerprint} />
      )}
    </Moment>
  );
}

function Steps({ job }: { job: Job }) {
  if (job.steps.length === 0) return null;
  return (
    <Panel title="Which steps are done?" aside="a retry begins behind them" isPadded>
      <div class="row">
        {job.steps.map((step) => (
          <Tag key={step} tone="ok">
            {step}
          </Tag>
        ))}
      </div>
    </Panel>
  );
}

function Logs({ job }: { job: Job }) {
  if (job.logs.length === 0) return null;
  return (
    <Panel title="What did it log?" aside={plural(job.logs.length, "line")} isPadded>
      <div>
        {job.logs.map(({ at, text }, place) => (
          <div key={place} class="mono any">
            <span class="sub">
              <Time at={at} />
            </span>{" "}
            {text}
          </div>
        ))}
      </div>
    </Panel>
  );
}
