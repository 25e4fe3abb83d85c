/** What fires when: in words, with the next tick and what became of the last one. */
import { api } from "../../api/client.ts";
import type { Schedule } from "../../api/types.ts";
import { Listing } from "../../components/listing.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table.tsx";
import { Relative } from "../../components/texts.tsx";
import { href, useParam } from "../../state/router.ts";
import { useMay, useMe } from "../../state/session.ts";
import { useLoad } from "../../state/use-load.ts";
import { count, plural } from "../../text/numbers.ts";
import type { PageProps } from "../pages.ts";
import { setScheduleByForm } from "./schedule-form.ts";
import { SchedulePage } from "./schedule-page.tsx";
import { ruleWords, RunTag, StandingTag } from "./schedule-words.tsx";

const PER_PAGE = 100;

export function SchedulesPage({ path }: PageProps) {
  const [name] = path;
  return name === undefined ? <SchedulesList /> : <SchedulePage name={name} />;
}

function SchedulesList() {
  const cursor = useParam("cursor");
  const { queues } = useMe();
  const maySet = useMay("admin") && queues === null;
  const schedules = useLoad(
    `schedules ${cursor}`,
    (signal) => api.schedules.list({ limit: PER_PAGE, cursor }, signal),
    5_000,
  );
  return (
    <>
      <div class="say">
        <h1>Schedules</h1>
        <p class="soft">Each tick fires once over the whole fleet.</p>
        <span class="sp" />
        {maySet && (
          <button
            type="button"
            class="btn p"
            onClick={() => void setScheduleByForm(null, schedules.reload)}
          >
            New schedule
          </button>
        )}
      </div>
      <Panel title="What fires when?">
        <Listing
          of={schedules}
          caption="Schedules"
          columns={COLUMNS}
          keyOf={({ name }) => name}
          hrefOf={({ name }) => href(["schedules", name])}
          none="There are no schedules."
          hint="A program declares them with schedules: in its Holdfast, or they are made here."
          told={(rows) => `${plural(rows.length, "schedule")}, by name`}
          next="More"
        />
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<Schedule>[] = [
  {
    title: "Schedule",
    cell: (schedule) => (
      <>
        <a class="main any" href={href(["schedules", schedule.name])}>
          {schedule.name}
        </a>{" "}
        <StandingTag schedule={schedule} />
        <div class="sub any">{ruleWords(schedule)}</div>
      </>
    ),
  },
  {
    title: "Job",
    isWide: true,
    cell: ({ job: { type, queue } }) => (
      <>
        <span class="mono any">{type}</span>
        <div class="sub">{queue}</div>
      </>
    ),
  },
  { title: "Next", isNumber: true, cell: ({ next }) => <Relative at={next[0] ?? null} /> },
  {
    title: "Last",
    isNumber: true,
    cell: ({ lastRun }) =>
      lastRun === null ? (
        <span class="sub">not yet</span>
      ) : (
        <>
          <RunTag run={lastRun} />
          <div class="sub">
            <Relative at={lastRun.tick} />
          </div>
        </>
      ),
  },
  {
    title: "Fired",
    isNumber: true,
    isWide: true,
    cell: ({ fired, missed, skipped }) => (
      <>
        {count(fired)}
        {missed + skipped > 0 && (
          <div class="sub">
            {count(missed)} missed, {count(skipped)} skipped
          </div>
        )}
      </>
    ),
  },
];
