/** One schedule: its rule in words, its next ticks, and what became of the last ones. */
import { api } from "../../api/client.ts";
import type { Run, Schedule } from "../../api/types.ts";
import { Pager } from "../../components/pager.tsx";
import { Panel } from "../../components/panel.tsx";
import { Sparkline } from "../../components/sparkline.tsx";
import { Content, Empty } from "../../components/states.tsx";
import { Table, type Column } from "../../components/table.tsx";
import { Relative, Time } from "../../components/texts.tsx";
import { act } from "../../state/act.ts";
import { askFirst } from "../../state/questions.ts";
import { go, href, useParam } from "../../state/router.ts";
import { useMay, useMe } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";
import { printExact } from "../../text/exact-json.ts";
import { count } from "../../text/numbers.ts";
import { duration } from "../../text/times.ts";
import { setScheduleByForm } from "./schedule-form.ts";
import { RunTag, ruleWords, StandingTag } from "./schedule-words.tsx";

const PER_PAGE = 50;

export function SchedulePage({ name }: { name: string }) {
  const cursor = useParam("cursor");
  const schedule = useLoad(`schedule ${name}`, (signal) => api.schedules.get(name, signal), 3_000);
  const runs = useLoad(
    `runs ${name} ${cursor}`,
    (signal) => api.schedules.runs(name, { limit: PER_PAGE, cursor }, signal),
    5_000,
  );
  // A run by hand is a row of its own, which would else be missing for seconds.
  const reload = () => {
    schedule.reload();
    runs.reload();
  };
  return (
    <Content of={schedule}>
      {(found) => (
        <div class="stack">
          <div class="say">
            <h1>{name}</h1>
            <p class="soft">
              {ruleWords(found)} <StandingTag schedule={found} />
            </p>
            <span class="sp" />
            <Steering schedule={found} reload={reload} />
          </div>
          <WhyNot schedule={found} />
          <div class="split">
            <Panel title="What became of its ticks?" aside="newest first">
              <Content of={runs}>
                {({ items, nextCursor }) =>
                  items.length === 0 ? (
                    <Empty title="It has not fired yet.">
                      {found.next[0] !== undefined && (
                        <>
                          It does <Relative at={found.next[0]} />.
                        </>
                      )}
                    </Empty>
                  ) : (
                    <>
                      <RanLine runs={items} />
                      <Table
                        caption="Ticks"
                        columns={COLUMNS}
                        rows={items}
                        keyOf={({ tick, job }) => `${tick} ${job}`}
                        hrefOf={({ job }) => (job === null ? null : href(["jobs", job]))}
                      />
                      <Pager nextCursor={nextCursor} />
                    </>
                  )
                }
              </Content>
            </Panel>
            <Facts schedule={found} />
          </div>
        </div>
      )}
    </Content>
  );
}

function WhyNot({ schedule }: { schedule: Schedule }) {
  const { paused, disabledAt } = schedule;
  if (paused === null && disabledAt === null) return null;
  return (
    <div class="why">
      <b>Why does it not fire?</b>
      {paused !== null && (
        <div class="any">
          It was paused by {paused.by ?? "a program"}: {paused.reason ?? "no reason was given"}.
          Since <Time at={paused.at} />.
        </div>
      )}
      {disabledAt !== null && (
        <div>
          No live worker declares it any more, since <Time at={disabledAt} />. It fires again when
          one does.
        </div>
      )}
    </div>
  );
}

/** How long its jobs ran, the oldest first. */
function RanLine({ runs }: { runs: readonly Run[] }) {
  const ran = runs.flatMap(({ ranMs }) => ranMs ?? []).reverse();
  if (ran.length < 2) return null;
  return (
    <div class="b">
      <Sparkline values={ran} label="How long its jobs ran, in milliseconds" />
      <div class="sub">
        How long its jobs ran: {duration(ran.at(-1) ?? 0)} at last, {duration(Math.max(...ran))} at
        most.
      </div>
    </div>
  );
}

const COLUMNS: readonly Column<Run>[] = [
  {
    title: "Tick",
    cell: ({ tick, isManual, by }) => (
      <>
        <Time at={tick} />
        {isManual && <div class="sub any">by hand, {by ?? "a program"}</div>}
      </>
    ),
  },
  {
    title: "Outcome",
    cell: (run) => (
      <>
        <RunTag run={run} />
        {run.error !== null && <div class="sub any">{run.error}</div>}
      </>
    ),
  },
  {
    title: "Job",
    isWide: true,
    cell: ({ job }) =>
      job === null ? (
        <span class="sub">none</span>
      ) : (
        <a class="mono any" href={href(["jobs", job])}>
          {job}
        </a>
      ),
  },
  {
    title: "Ran for",
    isNumber: true,
    cell: ({ ranMs }) => (ranMs === null ? "–" : duration(ranMs)),
  },
];

const OVERLAPS: Readonly<Record<Schedule["overlap"], string>> = {
  skip: "the tick is skipped",
  queue: "its job waits behind",
  cancel: "the running one is cancelled",
};
const MISSED: Readonly<Record<Schedule["onMissed"], string>> = {
  once: "one fires for all of them",
  skip: "they are left out",
  all: "each of them fires",
};

function Facts({ schedule }: { schedule: Schedule }) {
  const { next, cron, job, overlap, onMissed, origin, appVersion, fired, missed, skipped } =
    schedule;
  return (
    <div class="stack">
      <Panel title="When next?" isPadded>
        {next.length === 0 ? (
          <span class="sub">Not while it stands still.</span>
        ) : (
          <ul class="plain">
            {next.map((at) => (
              <li key={at} class="between">
                <Time at={at} />
                <span class="sub">
                  <Relative at={at} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      <Panel title="What does it do?" isPadded>
        <dl class="facts">
          {cron !== null && (
            <>
              <dt>Cron</dt>
              <dd class="mono">{cron}</dd>
            </>
          )}
          <dt>Job</dt>
          <dd class="mono">{job.type}</dd>
          <dt>Queue</dt>
          <dd>
            <a href={href(["queues", job.queue])}>{job.queue}</a>
            {job.group !== null && ` · ${job.group}`}
          </dd>
          <dt>While the last one runs</dt>
          <dd>{OVERLAPS[overlap]}</dd>
          <dt>Missed ticks</dt>
          <dd>{MISSED[onMissed]}</dd>
          <dt>Made by</dt>
          <dd>
            {origin === "code"
              ? `a program${appVersion === null ? "" : `, ${appVersion}`}`
              : "hand"}
          </dd>
          <dt>So far</dt>
          <dd>
            {count(fired)} fired, {count(skipped)} skipped, {count(missed)} missed
          </dd>
        </dl>
        <pre>{printExact(job.payload, 2)}</pre>
      </Panel>
    </div>
  );
}

function Steering({ schedule, reload }: { schedule: Schedule; reload: () => void }) {
  const { queues } = useMe();
  const mayOperate = useMay("operator");
  const maySet = useMay("admin") && queues === null;
  if (!mayOperate) return null;
  const isPaused = schedule.paused !== null;
  // The store refuses it: the next worker that starts would bring it back.
  const isDeclared = schedule.origin === "code" && schedule.disabledAt === null;
  return (
    <span class="acts">
      <button type="button" class="btn" onClick={() => void runNow(schedule, reload)}>
        Run now
      </button>
      <button type="button" class="btn" onClick={() => void steer(schedule, reload)}>
        {isPaused ? "Resume" : "Pause"}
      </button>
      {maySet && schedule.origin === "api" && (
        <button type="button" class="btn" onClick={() => void setScheduleByForm(schedule, reload)}>
          Change
        </button>
      )}
      {maySet && !isDeclared && (
        <button type="button" class="btn danger" onClick={() => void remove(schedule)}>
          Remove
        </button>
      )}
    </span>
  );
}

async function runNow({ name, job }: Schedule, reload: () => void): Promise<void> {
  const answer = await askFirst({
    title: `Run ${name} now?`,
    body: `One job of ${job.type} is enqueued in ${job.queue}. Its next tick stays as it is.`,
    verb: "Run now",
  });
  if (answer === null) return;
  const ran = await act(
    () => api.schedules.run(name, { reason: answer.reason }),
    "Its job is enqueued.",
    ({ id }) => ({ href: href(["jobs", id]), text: "Show it" }),
  );
  if (ran) reload();
}

async function steer({ name, paused }: Schedule, reload: () => void): Promise<void> {
  const verb = paused === null ? "pause" : "resume";
  const answer = await askFirst({
    title: `${paused === null ? "Pause" : "Resume"} ${name}?`,
    body: paused === null ? "It fires nothing until it is resumed." : "It fires at its next tick.",
    verb: paused === null ? "Pause it" : "Resume it",
  });
  if (answer === null) return;
  const done = paused === null ? `${name} is paused.` : `${name} fires again.`;
  if (await act(() => api.schedules.tell(name, verb, { reason: answer.reason }), done)) reload();
}

async function remove({ name, origin }: Schedule): Promise<void> {
  const answer = await askFirst({
    title: `Remove ${name}?`,
    body:
      origin === "code"
        ? "No live worker declares it any more. It is back when a program does that has it."
        : "It fires nothing more. What it enqueued stays.",
    ...{ verb: "Remove it", isDestructive: true, reason: "required" },
  });
  if (answer === null) return;
  const done = await act(
    () => api.schedules.remove(name, { reason: answer.reason }),
    `${name} is gone.`,
  );
  if (done) go(href(["schedules"]));
}
