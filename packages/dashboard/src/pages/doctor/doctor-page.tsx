/** What is wrong with store and fleet, what to do about it, and what people were told lately. */
import { api } from "../../api/client.ts";
import type { Finding } from "../../api/types.ts";
import { Panel } from "../../components/panel.tsx";
import { Content, Empty } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { Tag, Time, type Tone } from "../../components/texts.tsx";
import { useLoad } from "../../state/use-load.ts";
import { plural } from "../../text/numbers.ts";
import type { PageProps } from "../pages.ts";

const LEVELS: readonly Finding["level"][] = ["problem", "warning", "ok"];
const TONES: Readonly<Record<Finding["level"], Tone>> = {
  ...{ problem: "bad", warning: "warn", ok: "ok" },
};

export function DoctorPage(_: PageProps) {
  const findings = useLoad("doctor", (signal) => api.doctor(signal), 30_000);
  const alerts = useLoad("alerts", (signal) => api.alerts({ limit: 20 }, signal), 15_000);
  const wrong = (findings.data?.items ?? []).filter(({ level }) => level !== "ok");
  return (
    <>
      <div class="say">
        <h1>Doctor</h1>
        {findings.data && (
          <p class="soft">
            {wrong.length === 0 ? "Nothing is amiss." : plural(wrong.length, "finding")}
          </p>
        )}
        <span class="sp" />
        <button type="button" class="btn" onClick={findings.reload}>
          Look again
        </button>
      </div>
      <Panel title="What is wrong, and what would help?">
        <Content of={findings}>
          {({ items }) => (
            <Table
              caption="Findings"
              rows={[...items].sort(byLevel)}
              keyOf={({ what }) => what}
              columns={[
                { title: "Level", cell: ({ level }) => <Tag tone={TONES[level]}>{level}</Tag> },
                {
                  title: "Finding",
                  cell: ({ what, advice }) => (
                    <>
                      <span class="any">{what}</span>
                      {advice !== null && <div class="sub any">{advice}</div>}
                    </>
                  ),
                },
              ]}
            />
          )}
        </Content>
      </Panel>
      <Panel title="What were people told?" aside="the last 20 alerts">
        <Content of={alerts}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No alert was sent.">
                Alerts tell of spikes, lag, dead jobs and errors that a person must mend.
              </Empty>
            ) : (
              <Table
                caption="Alerts"
                rows={items}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: "Alert",
                    cell: ({ kind, message }) => (
                      <>
                        <b>{kind}</b>
                        <div class="sub any">{message}</div>
                      </>
                    ),
                  },
                  { title: "When", isNumber: true, cell: ({ at }) => <Time at={at} /> },
                ]}
              />
            )
          }
        </Content>
      </Panel>
    </>
  );
}

function byLevel(a: Finding, b: Finding): number {
  return LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level);
}
